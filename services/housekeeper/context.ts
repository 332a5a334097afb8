import type { BusParts } from '#shared/messaging/bus.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { KeptJobs } from './kept-jobs.ts';

/** Ends a content version; nothing happens when it came into use or was ended just then. Rejects when the publisher cannot be asked. */
export type EndContent = (content: ContentId, signal: AbortSignal) => Promise<void>;

export type ContentId = { organization: string; domain: string; contentVersion: string };

/** What the chores work with. */
export type HousekeeperContext = {
  bus: Pick<BusParts, 'exports' | 'content' | 'directory'> & { readModels: Pick<BusParts['readModels'], 'jobStatus'> };
  objectStore: ObjectStore;
  clock: Clock;
  logger: Logger;
  jobSources: readonly KeptJobs[];
  endContent: EndContent;
  sweepUploadsAfterMs: number;
  archiveAfterMs: number;
  keepObjectsMs: number;
  /** Say what would be removed, but remove nothing. */
  dryRun: boolean;
};
