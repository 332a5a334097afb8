import { leadByTurns } from '#shared/messaging/leases.ts';
import { accessProjection } from './access-projection.ts';
import { conversationProjection } from './conversation-projection.ts';
import { contentProjection } from './content-projection.ts';
import { directoryProjection } from './directory-projection.ts';
import { exportProjection } from './export-projection.ts';
import { siteProjection } from './site-projection.ts';
import { viewsProjection } from './views-projection.ts';
import { leadProjection } from './lead-projection.ts';
import type { ProjectionSource, ProjectorContext } from './projection.ts';

/** Runs all projections until `signal` aborts, each while this process holds its lease; resolves when the last has stopped. */
export async function startProjections(context: ProjectorContext, signal: AbortSignal): Promise<void> {
  const { bus, instance, logger } = context;
  await withEachProjection((source) =>
    leadByTurns(
      { leases: bus.leases, role: `projector.${source.name}`, holder: instance, logger },
      (leading) => leadProjection({ ...context, source }, leading),
      signal,
    ),
  );
}

/** Runs `work` for all projections concurrently. */
export const withEachProjection = <T>(work: <M>(source: ProjectionSource<M>) => Promise<T>): Promise<T[]> =>
  Promise.all([
    work(exportProjection),
    work(contentProjection),
    work(siteProjection),
    work(directoryProjection),
    work(accessProjection),
    work(conversationProjection),
    work(viewsProjection),
  ]);
