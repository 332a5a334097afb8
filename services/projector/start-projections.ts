import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { BusOf } from '#shared/messaging/bus.ts';
import { type Clock, systemClock } from '#shared/runtime/time-and-ids.ts';
import { accessProjection } from './access-projection.ts';
import { contentProjection } from './content-projection.ts';
import { directoryProjection } from './directory-projection.ts';
import { exportProjection } from './export-projection.ts';
import { leadProjection } from './lead-projection.ts';
import type { Archive, ProjectionSource } from './projection.ts';

/** Runs all projections until `signal` aborts; answers when the last has stopped. */
export async function startProjections(
  bus: BusOf<'projector'>,
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

export type ProjectionRun<M> = {
  source: ProjectionSource<M>;
  bus: BusOf<'projector'>;
  /** Who holds the lease. */
  instance: string;
  clock: Clock;
  /** Where old histories of export jobs are; undefined: nowhere. */
  archive: Archive | undefined;
  logger: Logger;
};

const retryAfterMs = 1_000;

/** Fills the generations of one projection while it holds the projection's lease, until `signal` aborts. */
export async function runProjection<M>(run: ProjectionRun<M>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const lease = await run.bus.leases.acquire(`projector.${run.source.name}`, run.instance, signal);
      try {
        await leadProjection(run, AbortSignal.any([signal, lease.lost]));
      } finally {
        await lease.release();
      }
    } catch (error) {
      if (signal.aborted) return;
      run.logger.warn({ err: error, projection: run.source.name }, 'a projection stopped; it starts again');
      await setTimeout(retryAfterMs, undefined, { signal }).catch(() => {});
    }
  }
}
