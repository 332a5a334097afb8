import type { Bus } from '#shared/bus/bus.ts';
import { jobsInLog } from './jobs-in-log.ts';
import type { KeptJobs } from './kept-job.ts';

/** Where kept jobs are found, in the order in which they wander: the log before the archive, so that none is missed on its way. */
export function jobSourcesOf(bus: Pick<Bus, 'exports'>): readonly KeptJobs[] {
  return [jobsInLog(bus.exports)];
}
