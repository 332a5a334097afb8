import type { Bus } from '#shared/bus/bus.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import type { Logger } from '#shared/telemetry/logger.ts';

/** What the chores work with. */
export type HousekeeperContext = {
  bus: Pick<Bus, 'exports' | 'content' | 'directory' | 'leases'>;
  objectStore: ObjectStore;
  clock: Clock;
  logger: Logger;
  instance: string;
  sweepUploadsAfterMs: number;
  keepObjectsMs: number;
};
