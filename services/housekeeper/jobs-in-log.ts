import type { Bus } from '#shared/bus/bus.ts';
import type { ExportJobState } from '#shared/contracts/export-job-state.ts';
import { inParallel } from '#shared/export-objects/in-parallel.ts';
import { exportLogSubject } from '#shared/subjects/subject-names.ts';
import type { KeptJob, KeptJobs } from './kept-job.ts';

const readsAtOnce = 16;
const batchSize = 1_000;

/** The kept jobs that the log has, by the last commit of each as the leader of the stream knows it: a replica may be behind. */
export function jobsInLog(log: Pick<Bus['exports'], 'subjects' | 'last'>): KeptJobs {
  return async function* (organization, endedSince, signal) {
    const subjects = await log.subjects(exportLogSubject(organization, '*'));
    for (let at = 0; at < subjects.length; at += batchSize) {
      signal.throwIfAborted();
      const commits = await inParallel(subjects.slice(at, at + batchSize), readsAtOnce, (subject) =>
        log.last(subject, { fromLeader: true }),
      );
      // One that is gone was archived since the subjects were listed.
      for (const last of commits) {
        const job = last && keptJob(last.commit.data.state, endedSince);
        if (job !== undefined) yield job;
      }
    }
  };
}

/** Undefined when the job ended too long ago. Pure. */
export function keptJob(state: ExportJobState, endedSince: Date): KeptJob | undefined {
  const { domain, contentVersion, planHash, options, completedAt } = state;
  if (completedAt !== undefined && Date.parse(completedAt) < endedSince.getTime()) return undefined;
  return { domain, contentVersion, planHash, selectionKey: options.selectionKey };
}
