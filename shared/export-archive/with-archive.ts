import { archivedJobKey } from '#shared/contracts/archived-job.ts';
import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { EventLog, StoredCommit } from '#shared/event-log/event-log.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import { commitsOf, readArchivedJob } from './read-archived-job.ts';

const readWithinMs = 5_000;

/**
 * The log of export jobs with what was moved from it to the archive: who reads a job's history sees all of it, wherever it is. A history
 * is archived before it is taken out of the log, so it is looked for in that order, and found also while it is being moved.
 */
export function withArchive(
  log: EventLog<ExportCommit>,
  objectStore: Pick<ObjectStore, 'get'>,
): EventLog<ExportCommit> {
  const archived = async (subject: string): Promise<StoredCommit<ExportCommit>[]> => {
    const [, organization = '', jobId = ''] = subject.split('.');
    const key = archivedJobKey(organization, jobId);
    const job = await readArchivedJob(objectStore, key, { signal: AbortSignal.timeout(readWithinMs) });
    return job === undefined ? [] : commitsOf(job);
  };
  return {
    ...log,
    last: async (subject, options) => (await log.last(subject, options)) ?? (await archived(subject)).at(-1),
    async *history(subject) {
      const newest = await log.last(subject);
      let revision = 0;
      if (newest !== undefined) {
        for await (const stored of log.history(subject)) {
          revision = stored.commit.revision;
          yield stored;
        }
        if (revision >= newest.commit.revision) return;
      }
      for (const stored of await archived(subject)) if (stored.commit.revision > revision) yield stored;
    },
  };
}
