import type { Clock } from '#shared/clock/clock.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';

/** The time by the object store's clock. Ages of objects and uploads count by it: a clock of ours that is ahead would make them older. */
export async function storeTime(objectStore: Pick<ObjectStore, 'clockSkewMs'>, clock: Clock): Promise<Date> {
  const skewMs = await objectStore.clockSkewMs();
  return new Date(clock.now().getTime() + skewMs);
}
