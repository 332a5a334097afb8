import { setInterval } from 'node:timers/promises';
import { isActive } from '#shared/aggregates/export-job/export-job.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import { BusPartMissing } from '#shared/messaging/bus.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { Poison, Unavailable } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { everySecond, retryUnavailable } from '#shared/runtime/retry.ts';
import type { OrchestratorContext } from './context.ts';
import { lastCommit } from './job-registry.ts';

/*
 * The index of active jobs spares a new leader from reading the log of all jobs. It can be rebuilt from that log. A mark of its bucket says that it
 * is complete: a bucket without the mark is new, because the old one was deleted or the bus was restored without it, and has to be filled first.
 */

type IndexContext = Pick<OrchestratorContext, 'bus' | 'logger' | 'clock'>;

/** An earlier version stored the mark as this document. Versions before it took the document for a job, and removed it with an error in their log. */
const formerMarkKey = jobStatusKey('_index', 'complete');
const readsAtOnce = 16;
const checkEveryMs = 5_000;

/**
 * The keys of all active jobs, and possibly of some that have ended. Rebuilds an index that is not complete. If the bucket is missing, the keys come
 * from the log. Rejects when neither can be read, or when `signal` aborts.
 */
export async function activeJobKeys(context: IndexContext, signal: AbortSignal): Promise<string[]> {
  try {
    if (await isComplete(context)) return await indexedKeys(context);
  } catch (error) {
    if (!(error instanceof BusPartMissing)) throw error;
    context.logger.error({ err: error }, 'the index of active jobs is missing; the log is read instead');
    return [...(await activeInLog(context, signal)).keys()];
  }
  return rebuild(context, signal);
}

/** Checks every few seconds that the index is complete. If it is not, rebuilds it and calls `onRebuilt` with its keys. Rejects when `signal` aborts. */
export async function keepIndexComplete(
  context: IndexContext,
  onRebuilt: (keys: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> {
  let isMissing = false;
  for await (const _ of setInterval(checkEveryMs, undefined, { signal })) {
    try {
      if (!(await isComplete(context))) onRebuilt(await rebuild(context, signal));
      isMissing = false;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      if (!(error instanceof BusPartMissing)) continue;
      if (!isMissing) context.logger.error({ err: error }, 'the index of active jobs is missing');
      isMissing = true;
    }
  }
}

async function isComplete({ bus }: IndexContext): Promise<boolean> {
  if (await bus.activeJobsMark.isSet()) return true;
  if ((await bus.activeJobs.get(formerMarkKey, { fromLeader: true })) === undefined) return false;
  await bus.activeJobsMark.set();
  return true;
}

/** The keys in the index. Removes the former mark, which the earlier version stores again whenever it leads in between. */
async function indexedKeys({ bus }: IndexContext): Promise<string[]> {
  const keys = await bus.activeJobs.keys();
  if (keys.includes(formerMarkKey)) await bus.activeJobs.remove(formerMarkKey);
  return keys.filter((key) => key !== formerMarkKey);
}

async function rebuild(context: IndexContext, signal: AbortSignal): Promise<string[]> {
  const { bus, logger } = context;
  const known = await indexedKeys(context);
  const found = await activeInLog(context, signal);
  await inParallel([...found], readsAtOnce, ([key, job]) => bus.activeJobs.put(key, job));
  await bus.activeJobsMark.set();
  if (found.size > 0) logger.info({ jobs: found.size }, 'the index of active jobs was filled from the log');
  return [...new Set([...known, ...found.keys()])];
}

type Indexed = { organization: string; jobId: string; createdAt: string };

/** The active jobs in the log. A job whose newest commit this program cannot read may be active. */
async function activeInLog(context: IndexContext, signal: AbortSignal): Promise<Map<string, Indexed>> {
  const wait = <T>(call: () => Promise<T>): Promise<T> => retryUnavailable(everySecond, signal, call);
  const subjects = await wait(() => context.bus.exports.subjects(exportLogSubject('*', '*')));
  const found = await inParallel(subjects, readsAtOnce, async (subject): Promise<[string, Indexed][]> => {
    signal.throwIfAborted();
    const [, organization = '', jobId = ''] = subject.split('.');
    const key = jobStatusKey(organization, jobId);
    try {
      const last = await wait(() => lastCommit(context, organization, jobId));
      if (last === undefined || !isActive(last.commit.data.state.phase)) return [];
      return [[key, { organization, jobId, createdAt: last.commit.data.state.createdAt }]];
    } catch (error) {
      if (!(error instanceof Poison)) throw error;
      return [[key, { organization, jobId, createdAt: context.clock.now().toISOString() }]];
    }
  });
  return new Map(found.flat());
}
