import type { ExportCommit, ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { archivedJobHeadSchema, archivePrefix } from '#shared/contracts/stored-objects.ts';
import { liveDeployments, rollbackTargets } from '#shared/aggregates/site/site.ts';
import { logWithArchive } from '#shared/messaging/log/archived-jobs.ts';
import type { EventLog } from '#shared/messaging/log/event-log.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { exportLogSubject, siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import type { ObjectEntry, ObjectStore } from '#shared/storage/object-store.ts';

/** The objects that an export job needs while it is kept. */
export type KeptJob = {
  domain: string;
  contentVersion: string;
  /** Present once the job is planned. */
  planHash?: string | undefined;
  /** Key of the object with the requested pages, if the request named any. */
  selectionKey?: string | undefined;
};

/**
 * The kept jobs of an organization: those that have not ended, or not before `endedSince`. They are read from the log and the archive, never from a
 * read model, because objects that no kept job names are deleted. Rejects if a job cannot be read.
 */
export type KeptJobs = (
  organization: string,
  endedSince: Date,
  signal: AbortSignal,
  /** A sequence of the log: yields only jobs that changed after it, for a caller that has seen all earlier ones. */
  after?: number,
) => AsyncIterable<KeptJob>;

type JobLog = Pick<BusParts['exports'], 'subjects' | 'last' | 'after'>;
type SiteLog = Pick<BusParts['sites'], 'subjects' | 'last'>;
type Archive = Pick<ObjectStore, 'list' | 'head'>;

/**
 * The kept jobs: first those in the log, then those in the archive, so that a job that is archived meanwhile is not missed, and finally those of
 * sites.
 */
export function keptJobsIn(
  { exports, sites }: { exports: EventLog<ExportCommit>; sites: SiteLog },
  archive: Pick<ObjectStore, 'list' | 'head' | 'get'>,
): KeptJobs {
  return async function* (organization, endedSince, signal, after) {
    if (after !== undefined) yield* jobsAfter(exports, organization, endedSince, signal, after);
    else {
      yield* jobsInLog(exports)(organization, endedSince, signal);
      yield* jobsInArchive(archive)(organization, endedSince, signal);
    }
    yield* jobsOfSites(sites, logWithArchive(exports, archive), organization, signal);
  };
}

/** The jobs whose bundles sites serve, or that a rollback can reach, of any age. */
async function* jobsOfSites(
  sites: SiteLog,
  exports: Pick<JobLog, 'last'>,
  organization: string,
  signal: AbortSignal,
): AsyncGenerator<KeptJob> {
  for (const subject of await sites.subjects(siteLogSubject(organization, '*'))) {
    signal.throwIfAborted();
    const site = (await sites.last(subject, { fromLeader: true }))?.commit.data.state;
    if (site?.isOpen !== true) continue;
    for (const { jobId } of [...liveDeployments(site), ...rollbackTargets(site.deployments)]) {
      const job = await exports.last(exportLogSubject(organization, jobId), { fromLeader: true });
      const kept = job && keptJob(job.commit.data.state, new Date(0));
      if (kept !== undefined) yield kept;
    }
  }
}

/** The jobs that changed after a sequence. One that moved to the archive since was in the log before. */
async function* jobsAfter(
  log: Pick<JobLog, 'after'>,
  organization: string,
  endedSince: Date,
  signal: AbortSignal,
  after: number,
): AsyncGenerator<KeptJob> {
  for await (const { commit } of log.after(exportLogSubject(organization, '*'), after)) {
    signal.throwIfAborted();
    const job = keptJob(commit.data.state, endedSince);
    if (job !== undefined) yield job;
  }
}

const readsAtOnce = 16;
const batchSize = 1_000;

/** The kept jobs in the log, by the last commit of each. The leader of the stream is asked, because a replica may be behind. */
export function jobsInLog(log: JobLog): KeptJobs {
  return async function* (organization, endedSince, signal) {
    const subjects = await log.subjects(exportLogSubject(organization, '*'));
    for (let at = 0; at < subjects.length; at += batchSize) {
      signal.throwIfAborted();
      const commits = await inParallel(subjects.slice(at, at + batchSize), readsAtOnce, (subject) =>
        log.last(subject, { fromLeader: true }),
      );
      // A job without a commit was archived since the subjects were listed.
      for (const last of commits) {
        const job = last && keptJob(last.commit.data.state, endedSince);
        if (job !== undefined) yield job;
      }
    }
  };
}

/** Undefined if the job ended too long ago. Pure. */
export function keptJob(state: ExportJobState, endedSince: Date): KeptJob | undefined {
  const { domain, contentVersion, planHash, options, completedAt } = state;
  if (completedAt !== undefined && Date.parse(completedAt) < endedSince.getTime()) return undefined;
  return { domain, contentVersion, planHash, selectionKey: options.selectionKey };
}

/** The object of an archived job is newer than the job's end, but the two times come from different clocks. */
const clockMarginMs = dayMs;

/** The kept jobs in the archive. Reads only the metadata of objects that were archived since `endedSince`. */
export function jobsInArchive(archive: Archive): KeptJobs {
  return async function* (organization, endedSince, signal) {
    const archivedSince = endedSince.getTime() - clockMarginMs;
    let batch: string[] = [];
    const entries: AsyncIterable<ObjectEntry> = archive.list(`${archivePrefix}${organization}/`, { signal });
    for await (const { key, modifiedAt } of entries) {
      if (modifiedAt.getTime() > 0 && modifiedAt.getTime() < archivedSince) continue;
      batch.push(key);
      if (batch.length < batchSize) continue;
      yield* await keptOf(archive, batch, endedSince, signal);
      batch = [];
    }
    yield* await keptOf(archive, batch, endedSince, signal);
  };
}

async function keptOf(
  archive: Pick<Archive, 'head'>,
  keys: readonly string[],
  endedSince: Date,
  signal: AbortSignal,
): Promise<KeptJob[]> {
  const jobs = await inParallel(keys, readsAtOnce, async (key): Promise<KeptJob[]> => {
    const head = await archive.head(key, { signal });
    const job = archivedJobHeadSchema.safeParse(head?.metadata);
    if (!job.success) throw new Error(`The object ${key} does not name the job whose history it has.`);
    const { domain, 'ended-at': endedAt, 'content-version': contentVersion } = job.data;
    if (Date.parse(endedAt) < endedSince.getTime()) return [];
    return [{ domain, contentVersion, planHash: job.data['plan-hash'], selectionKey: job.data['selection-key'] }];
  });
  return jobs.flat();
}
