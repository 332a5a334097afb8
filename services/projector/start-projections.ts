import type { Logger } from 'pino';
import type { Bus } from '#shared/bus/bus.ts';
import { contentProjection } from './content-projection.ts';
import { directoryProjection } from './directory-projection.ts';
import { exportProjection } from './export-projection.ts';
import { runProjection } from './run-projection.ts';

/** Runs all projections until `signal` aborts; answers when the last has stopped. */
export async function startProjections(bus: Bus, instance: string, logger: Logger, signal: AbortSignal): Promise<void> {
  const common = { bus, instance, logger };
  await Promise.all([
    runProjection(
      {
        ...common,
        projection: exportProjection(bus.documents),
        openReader: () => bus.readers.projectorExports(),
        log: bus.exports,
      },
      signal,
    ),
    runProjection(
      {
        ...common,
        projection: contentProjection(bus.documents.directoryContents),
        openReader: () => bus.readers.projectorContent(),
        log: bus.content,
      },
      signal,
    ),
    runProjection(
      {
        ...common,
        projection: directoryProjection(bus.documents),
        openReader: () => bus.readers.projectorDirectory(),
        log: bus.directory,
      },
      signal,
    ),
  ]);
}
