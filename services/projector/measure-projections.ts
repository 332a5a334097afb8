import type { ProjectionName } from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { firstPointer } from './projection-pointer.ts';
import type { ProjectionSource } from './projection.ts';
import { withEachProjection } from './start-projections.ts';

/**
 * Metrics for the lag of read models behind their logs, and for the length of the logs. The bus is asked on each scrape, so every projector reports
 * the same, leading or not.
 */
export function measureProjections(metrics: Pick<Metrics, 'gauges'>, bus: BusOf<'projector'>): void {
  const byProjection = (read: (position: Position) => number) => async () => {
    const positions = await withEachProjection((source) => positionOf(bus, source));
    return Object.fromEntries(positions.map(([name, position]) => [name, read(position)]));
  };
  metrics.gauges(
    'bindery_projection_lag_messages',
    'Messages of a log that are not in the read model yet.',
    'projection',
    byProjection(({ leftCount }) => leftCount),
  );
  metrics.gauges(
    'bindery_log_messages',
    'Messages ever written to the log of a projection; its growth is the write rate.',
    'projection',
    byProjection(({ doneUpTo, leftCount }) => doneUpTo + leftCount),
  );
}

type Position = { doneUpTo: number; leftCount: number };

async function positionOf<M>(
  bus: BusOf<'projector'>,
  source: ProjectionSource<M>,
): Promise<[ProjectionName, Position]> {
  const pointer = await bus.projections.pointers.get(source.name);
  const reader = await source.openReader(bus, (pointer?.document ?? firstPointer).live);
  return [source.name, await reader.position()];
}
