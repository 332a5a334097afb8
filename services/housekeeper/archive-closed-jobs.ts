import { LRUCache } from 'lru-cache';
import { type ArchivedJob, type ArchivedJobHead, archivedJobKey } from '#shared/contracts/stored-objects.ts';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import { verifyChain } from '#shared/messaging/log/commit-chain.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { eachInParallel } from '#shared/runtime/in-parallel.ts';
import type { HousekeeperContext } from './context.ts';

const jobsAtOnce = 8;
/** Size of the cache of subjects that were checked. A job that was evicted and stays in the log is checked again at its next message. */
const mostRemembered = 10_000;
const mostNamed = 20;

/**
 * Moves the histories of jobs that ended long ago from the log, where each costs the servers memory, to the object store. A history is verified,
 * stored and read back before it is purged from the log, so a reader always finds it in one of the two. The log is read from its oldest message to
 * the first one that is too young, so the cost of a round depends on the jobs to archive. The chore can be stopped anywhere and repeated. A broken
 * history, or one of a newer version, stays in the log for auditors, or for the next version; the others are archived, and the chore rejects in the
 * end.
 */
export async function archiveClosedJobs(
  context: HousekeeperContext,
  archiveAfterMs: number,
  signal: AbortSignal,
): Promise<number> {
  const { bus, clock, logger } = context;
  const endedBefore = clock.now().getTime() - archiveAfterMs;
  let archivedCount = 0;
  const broken: string[] = [];
  let brokenCount = 0;
  await eachInParallel(jobsOf(bus.exports.storedBefore(new Date(endedBefore))), jobsAtOnce, async (subject) => {
    signal.throwIfAborted();
    try {
      if (await archiveJob(context, subject, endedBefore, signal)) archivedCount += 1;
    } catch (error) {
      if (!(error instanceof NotArchived || error instanceof Poison)) throw error;
      logger.error({ subject, reason: error.message }, 'the history of a job cannot be archived and stays in the log');
      brokenCount += 1;
      if (broken.length < mostNamed) broken.push(subject);
    }
  });
  if (archivedCount > 0) logger.info({ jobs: archivedCount }, 'jobs were moved from the log to the archive');
  if (brokenCount > 0) {
    const more = brokenCount > broken.length ? ` and ${brokenCount - broken.length} more` : '';
    throw new Error(`These histories were not archived: ${broken.join(', ')}${more}.`);
  }
  return archivedCount;
}

/** Yields each subject once, at its first message. */
async function* jobsOf(subjects: AsyncIterable<string>): AsyncGenerator<string> {
  const seen = new LRUCache<string, true>({ max: mostRemembered });
  for await (const subject of subjects) {
    if (seen.get(subject) !== undefined) continue;
    seen.set(subject, true);
    yield subject;
  }
}

/** A history that cannot be archived. Other histories are not affected. */
class NotArchived extends Error {
  override name = 'NotArchived';
}

async function archiveJob(
  { bus, objectStore }: HousekeeperContext,
  subject: string,
  endedBefore: number,
  signal: AbortSignal,
): Promise<boolean> {
  const last = await bus.exports.last(subject, { fromLeader: true });
  if (last === undefined) return false;
  const { state } = last.commit.data;
  if (state.completedAt === undefined || Date.parse(state.completedAt) >= endedBefore) return false;
  // All projections must have read the whole history. The read models are the slowest, and record their revision.
  const seen = await bus.readModels.jobStatus.get(jobStatusKey(state.organization, state.jobId));
  if (seen === undefined || seen.document.revision < last.commit.revision) return false;
  const { commitId, hash, anchor, lost } = seen.document;
  if (commitId !== last.commit.id || (hash ?? last.commit.hash) !== last.commit.hash) {
    throw new NotArchived(`its read model has seen another commit at the end (${commitId})`);
  }

  const messages = await bus.exports.texts(subject);
  const [problem] = verifyChain(subject, messages);
  if (problem !== undefined) throw new NotArchived(`message ${problem.sequence}: ${problem.message}`);
  if (messages.at(-1)?.sequence !== last.sequence) throw new NotArchived('its last message could not be read');

  const job: ArchivedJob = {
    version: 1,
    subject,
    messages: messages.map(({ sequence, text }) => ({ sequence, text })),
    ...(anchor === undefined ? {} : { anchor }),
    ...(lost === undefined ? {} : { lost }),
  };
  const key = archivedJobKey(state.organization, state.jobId);
  const body = Buffer.from(JSON.stringify(job));
  const metadata = headOf(state, state.completedAt);
  await objectStore.putIfAbsent(key, body, { contentType: 'application/json', metadata, signal });
  const readBack = await objectStore.get(key, { signal });
  // An earlier attempt may have stored the object before the history had an anchor.
  if (historyIn(readBack) !== historyIn(body)) throw new NotArchived(`the object ${key} has other contents`);
  await bus.exports.purge(subject, { sequence: last.sequence });
  return true;
}

/** The subject and messages of a stored history, as text; undefined if it cannot be read. */
function historyIn(stored: Uint8Array | undefined): string | undefined {
  try {
    const { subject, messages } = JSON.parse(Buffer.from(stored ?? '').toString()) as Partial<ArchivedJob>;
    return messages === undefined ? undefined : JSON.stringify([subject, messages]);
  } catch {
    return undefined;
  }
}

/** Metadata that `jobsInArchive` reads later, without the whole object. */
function headOf({ domain, contentVersion, planHash, options }: ExportJobState, endedAt: string) {
  return {
    'ended-at': endedAt,
    domain,
    'content-version': contentVersion,
    ...(planHash === undefined ? {} : { 'plan-hash': planHash }),
    ...(options.selectionKey === undefined ? {} : { 'selection-key': options.selectionKey }),
  } satisfies ArchivedJobHead;
}
