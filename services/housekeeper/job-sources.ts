import type { Bus } from '#shared/bus/bus.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import { jobsInArchive } from './jobs-in-archive.ts';
import { jobsInLog } from './jobs-in-log.ts';
import type { KeptJobs } from './kept-job.ts';

/** Where kept jobs are found, in the order in which they wander: the log before the archive, so that none is missed on its way. */
export function jobSourcesOf(
  bus: Pick<Bus, 'exports'>,
  objectStore: Pick<ObjectStore, 'list' | 'head'>,
): readonly KeptJobs[] {
  return [jobsInLog(bus.exports), jobsInArchive(objectStore)];
}
