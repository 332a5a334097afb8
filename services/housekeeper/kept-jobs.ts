import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { archivedJobHeadSchema, archivePrefix } from '#shared/contracts/stored-objects.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { ObjectEntry, ObjectStore } from '#shared/storage/object-store.ts';

/** What an export job needs of the object store for as long as it is kept. */
export type KeptJob = {
  domain: string;
  contentVersion: string;
  /** Once it is planned. */
  planHash?: string | undefined;
  /** Key of the object with the pages that the request named, if it named any. */
  selectionKey?: string | undefined;
};

/**
 * The jobs of an organization that are kept: those that have not ended, or not before `endedSince`. Read from where the job was decided,
 * never from a read model: what is missing here is deleted. Rejects when it cannot tell.
 */
export type KeptJobs = (organization: string, endedSince: Date, signal: AbortSignal) => AsyncIterable<KeptJob>;

/** Where kept jobs are found, in the order in which they wander: the log before the archive, so that none is missed on its way. */
export function jobSourcesOf(
  bus: Pick<BusParts, 'exports'>,
  objectStore: Pick<ObjectStore, 'list' | 'head'>,
): readonly KeptJobs[] {
  return [jobsInLog(bus.exports), jobsInArchive(objectStore)];
}

const readsAtOnce = 16;
const batchSize = 1_000;

/** The kept jobs that the log has, by the last commit of each as the leader of the stream knows it: a replica may be behind. */
export function jobsInLog(log: Pick<BusParts['exports'], 'subjects' | 'last'>): KeptJobs {
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

/** An object is younger than the end of its job, by two clocks that may differ. */
const clockMarginMs = 86_400_000;

/** The kept jobs that the archive has. Of those that were archived since `endedSince` only the head is read. */
export function jobsInArchive(objectStore: Pick<ObjectStore, 'list' | 'head'>): KeptJobs {
  return async function* (organization, endedSince, signal) {
    const archivedSince = endedSince.getTime() - clockMarginMs;
    let batch: string[] = [];
    const entries: AsyncIterable<ObjectEntry> = objectStore.list(`${archivePrefix}${organization}/`, { signal });
    for await (const { key, modifiedAt } of entries) {
      if (modifiedAt.getTime() > 0 && modifiedAt.getTime() < archivedSince) continue;
      batch.push(key);
      if (batch.length < batchSize) continue;
      yield* await keptOf(objectStore, batch, endedSince, signal);
      batch = [];
    }
    yield* await keptOf(objectStore, batch, endedSince, signal);
  };
}

async function keptOf(
  objectStore: Pick<ObjectStore, 'head'>,
  keys: readonly string[],
  endedSince: Date,
  signal: AbortSignal,
): Promise<KeptJob[]> {
  const jobs = await inParallel(keys, readsAtOnce, async (key): Promise<KeptJob[]> => {
    const head = await objectStore.head(key, { signal });
    const archived = archivedJobHeadSchema.safeParse(head?.metadata);
    if (!archived.success) throw new Error(`The object ${key} does not say which job it is the history of.`);
    if (Date.parse(archived.data['ended-at']) < endedSince.getTime()) return [];
    return [
      {
        domain: archived.data.domain,
        contentVersion: archived.data['content-version'],
        planHash: archived.data['plan-hash'],
        selectionKey: archived.data['selection-key'],
      },
    ];
  });
  return jobs.flat();
}
