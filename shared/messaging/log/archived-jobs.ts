import { type ExportCommit, exportJobAggregate } from '#shared/aggregates/export-job/export-job.ts';
import {
  type ArchivedJob,
  archivedJobKey,
  archivedJobSchema,
  archivePrefix,
} from '#shared/contracts/stored-objects.ts';
import { verifyChain } from './commit-chain.ts';
import type { EventLog, StoredCommit } from './event-log.ts';
import { BadMessage, parseMessage } from '#shared/messaging/parse-message.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { type ObjectStore, type ReadOptions, storeWithin } from '#shared/storage/object-store.ts';
import { BrokenObject, getJson } from '#shared/storage/stored-json.ts';

const readWithinMs = 5_000;

/**
 * The log of export jobs together with the archive: a reader sees the whole history of a job in either place. A history is archived before it is
 * removed from the log, so this reads the log first and then the archive, and finds it even during the move. An archived history that cannot be read
 * rejects with `Poison`, like a message in the log.
 */
export function logWithArchive(
  log: EventLog<ExportCommit>,
  objectStore: Pick<ObjectStore, 'get'>,
): EventLog<ExportCommit> {
  const archived = async (subject: string): Promise<StoredCommit<ExportCommit>[]> => {
    try {
      const job = await archivedJobOf(objectStore, subject, { signal: storeWithin(readWithinMs) });
      return job === undefined ? [] : commitsOf(job);
    } catch (error) {
      throw error instanceof BrokenObject ? new BadMessage(error.message, { cause: error }) : error;
    }
  };
  return {
    ...log,
    last: async (subject, options) => (await log.last(subject, options)) ?? (await archived(subject)).at(-1),
    at: async (subject, sequence) =>
      (await log.at(subject, sequence)) ?? (await archived(subject)).find((stored) => stored.sequence === sequence),
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

/** The archived job that had a subject in the log; undefined if there is none. Rejects with `BrokenObject` if the object is not an archived job. */
export function archivedJobOf(
  objectStore: Pick<ObjectStore, 'get'>,
  subject: string,
  options: ReadOptions = {},
): Promise<ArchivedJob | undefined> {
  const [, organization = '', jobId = ''] = subject.split('.');
  return getJson(objectStore, archivedJobKey(organization, jobId), archivedJobSchema, options);
}

/** The stored commits in their current form. Throws `NewerMessage` and `BadMessage`, like reading the log. */
function commitsOf({ subject, messages }: ArchivedJob): StoredCommit<ExportCommit>[] {
  return messages.map(({ sequence, text }) => ({
    commit: parseMessage({ subject, seq: sequence, data: Buffer.from(text) }, exportJobAggregate.storedCommit),
    sequence,
  }));
}

/** The whole history of an archived job, or a sentence with the reason why its object cannot be read as one. */
export type ArchivedHistory = { key: string; commits: ExportCommit[] } | { key: string; problem: string };

/**
 * Yields the histories of all archived jobs, in no particular order. An object that is not the whole history of its job is returned with its problem.
 * Rejects if the store cannot be listed or read completely, or when `signal` aborts.
 */
export async function* archivedHistories(
  objectStore: Pick<ObjectStore, 'list' | 'get'>,
  signal: AbortSignal,
): AsyncIterable<ArchivedHistory> {
  for await (const { key } of objectStore.list(archivePrefix, { signal })) {
    signal.throwIfAborted();
    const history = await archivedHistory(objectStore, key, signal);
    if (history !== undefined) yield history;
  }
}

async function archivedHistory(
  objectStore: Pick<ObjectStore, 'get'>,
  key: string,
  signal: AbortSignal,
): Promise<ArchivedHistory | undefined> {
  try {
    const job = await getJson(objectStore, key, archivedJobSchema, { signal });
    if (job === undefined) return undefined;
    const { subject, messages } = job;
    const [, organization = '', jobId = ''] = subject.split('.');
    if (archivedJobKey(organization, jobId) !== key) return { key, problem: `It is the history of ${subject}.` };
    const [broken] = verifyChain(
      subject,
      messages.map((message) => ({ subject, ...message })),
    );
    if (broken !== undefined) return { key, problem: `Message ${broken.sequence}: ${broken.message}` };
    return { key, commits: commitsOf(job).map(({ commit }) => commit) };
  } catch (error) {
    if (error instanceof BrokenObject || error instanceof Poison) return { key, problem: error.message };
    throw error;
  }
}
