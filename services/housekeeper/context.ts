import type { ContentId } from '#shared/contracts/identifiers.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { KeptJobs } from './kept-jobs.ts';

/** Dependencies of all chores. */
export type HousekeeperContext = {
  bus: Pick<BusParts, 'exports' | 'content' | 'sites' | 'directory'> & {
    readModels: Pick<BusParts['readModels'], 'jobStatus'>;
  };
  objectStore: ObjectStore;
  clock: Clock;
  logger: Logger;
  keptJobs: KeptJobs;
  /** Ends a content version; does nothing if it came into use or was ended meanwhile. Rejects when the publisher cannot be reached. */
  endContent: (content: ContentId, signal: AbortSignal) => Promise<void>;
  keepObjectsMs: number;
  /** True for a preview (`preview-sweep.ts`), which reports removals and removes nothing. */
  dryRun: boolean;
};
