import type { Logger } from 'pino';
import type { Bus } from '#shared/bus/bus.ts';
import { type Clock, systemClock } from '#shared/clock/clock.ts';
import { accessProjection } from './access-projection.ts';
import { contentProjection } from './content-projection.ts';
import { directoryProjection } from './directory-projection.ts';
import { exportProjection } from './export-projection.ts';
import type { Archive } from './projection.ts';
import { runProjection } from './run-projection.ts';

/** Runs all projections until `signal` aborts; answers when the last has stopped. */
export async function startProjections(
  bus: Bus,
  instance: string,
  logger: Logger,
  signal: AbortSignal,
  clock: Clock = systemClock,
  archive?: Archive,
): Promise<void> {
  const common = { bus, instance, logger, clock, archive };
  await Promise.all([
    runProjection({ ...common, source: exportProjection }, signal),
    runProjection({ ...common, source: contentProjection }, signal),
    runProjection({ ...common, source: directoryProjection }, signal),
    runProjection({ ...common, source: accessProjection }, signal),
  ]);
}
