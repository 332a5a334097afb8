import { type JobListEntry, jobStatusKey, listDaysKey, listedDays } from '#shared/interfaces/read-models.ts';
import { archivedJobKey } from '#shared/contracts/stored-objects.ts';
import type { ReadModels } from '#shared/messaging/read-models.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { Conflict } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { type DayListKind, keepInDay } from './day-list.ts';
import type { ExpiryContext } from './projection.ts';

type JobModels = Pick<ReadModels, 'jobStatus' | 'jobList' | 'jobDays'>;

/**
 * Removes the status and the list entry of each job whose history was moved to the archive: requests for it are answered from there. A job is removed
 * when the log no longer has it and the archive does; one that is in neither stays, because an audit must see it. Works day by day, with the names of
 * one organization's jobs in memory. Idempotent.
 */
export async function dropArchivedJobs(
  generations: readonly JobModels[],
  { now, signal, exports, archive }: ExpiryContext,
  kind: DayListKind<JobListEntry>,
): Promise<void> {
  if (archive === undefined) return;
  // Histories stay in the log for at least a day.
  const yesterday = new Date(now.getTime() - dayMs).toISOString().slice(0, 10);
  const organizations = await Promise.all(generations.map(({ jobDays }) => jobDays.keys()));
  for (const organization of new Set(organizations.flat())) {
    const days = await Promise.all(generations.map((models) => oldDays(models, organization, yesterday)));
    if (days.flat().length === 0) continue;
    const inLog = new Set(await exports.subjects(exportLogSubject(organization, '*')));
    const isArchived = async (jobId: string): Promise<boolean> =>
      !inLog.has(exportLogSubject(organization, jobId)) &&
      (await archive.head(archivedJobKey(organization, jobId))) !== undefined;
    for (const [index, models] of generations.entries()) {
      for (const day of days[index] ?? []) {
        signal.throwIfAborted();
        await dropOfDay(models, kind, { organization, day }, isArchived);
      }
    }
  }
}

async function oldDays({ jobDays }: JobModels, organization: string, before: string): Promise<string[]> {
  const days = await jobDays.get(listDaysKey(organization), { fromLeader: true });
  return listedDays(days?.document).filter((day) => day < before);
}

const jobsAtOnce = 16;

async function dropOfDay(
  { jobStatus, jobList, jobDays }: JobModels,
  kind: DayListKind<JobListEntry>,
  of: { organization: string; day: string },
  isArchived: (jobId: string) => Promise<boolean>,
): Promise<void> {
  try {
    await keepInDay({ days: jobDays, parts: jobList }, kind, of, async (jobs) => {
      const gone = new Set<string>();
      await inParallel(jobs, jobsAtOnce, async ({ jobId }) => {
        if (!(await isArchived(jobId))) return;
        gone.add(jobId);
        // The status is removed before the list entry, because a document that no list names would never be found again.
        const key = jobStatusKey(of.organization, jobId);
        const stored = await jobStatus.get(key, { fromLeader: true });
        if (stored !== undefined) await jobStatus.remove(key, { expectedRevision: stored.revision });
      });
      return jobs.filter(({ jobId }) => !gone.has(jobId));
    });
  } catch (error) {
    // Another process wrote to this day meanwhile: the next round continues with it.
    if (!(error instanceof Conflict)) throw error;
  }
}
