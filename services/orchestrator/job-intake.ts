import { setTimeout as delay } from 'node:timers/promises';
import { type ExportCommit, isActive } from '#shared/aggregates/export-job/export-job.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import { BusPartMissing } from '#shared/messaging/bus.ts';
import { consume } from '#shared/messaging/queue/consume.ts';
import type { Delivery } from '#shared/messaging/queue/durable-reader.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { everySecond, pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { OrchestratorContext } from './context.ts';
import { type ActiveJob, type JobRegistry, lastCommit, leaveIndex } from './job-registry.ts';

type IntakeContext = Pick<OrchestratorContext, 'bus' | 'logger'>;
type Adds = Pick<JobRegistry, 'add'>;

const readsAtOnce = 16;

const takeAgainPause: RetryPolicy = { firstPauseMs: 1_000, longestPauseMs: 30_000 };

/**
 * Adds the jobs with these keys that are active, each at its newest commit. Rejects when `signal` aborts. Jobs do not wait for each other: those that
 * cannot be read yet are retried after all others.
 */
export async function takeOver(
  context: IntakeContext,
  registry: Adds,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  let left = keys;
  const ended: Pick<ActiveJob, 'organization' | 'jobId'>[] = [];
  for (let round = 1; left.length > 0; round += 1) {
    if (round > 1) await delay(pauseAfter(round - 1, takeAgainPause), undefined, { signal });
    const done = await inParallel(left, readsAtOnce, (key) => takeOne(context, registry, key, ended, signal));
    left = left.filter((_, at) => !done[at]);
  }
  // Jobs that have ended are handled last, so that no active job waits for them.
  await inParallel(ended, readsAtOnce, (job) => leaveIndex(context, job));
}

/**
 * Returns true if the job is settled, and adds it to `ended` if it has ended. A job without a task in flight gets no fact that would bring it back,
 * so it must be retried.
 */
async function takeOne(
  context: IntakeContext,
  registry: Adds,
  key: string,
  ended: Pick<ActiveJob, 'organization' | 'jobId'>[],
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  const [organization = '', jobId = ''] = key.split('.');
  try {
    const stored = await lastCommit(context, organization, jobId);
    signal.throwIfAborted();
    if (stored === undefined) context.logger.error({ jobId }, 'the log of an active job is gone; the job is given up');
    if (stored !== undefined && isActive(stored.commit.data.state.phase)) registry.add(stored);
    else ended.push({ organization, jobId });
    return true;
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof Poison) {
      context.logger.error({ err: error, jobId }, 'a job cannot be taken over: this program cannot read its log');
      return true;
    }
    context.logger.warn({ err: error, jobId }, 'a job is not taken over yet');
    return false;
  }
}

const takeAgainAfterMs = 30_000;

/** After a pause, adds a job again that left the registry although it continues. Never rejects. */
export async function takeAgain(
  context: IntakeContext,
  registry: Adds,
  { organization, jobId }: Pick<ActiveJob, 'organization' | 'jobId'>,
  signal: AbortSignal,
  afterMs = takeAgainAfterMs,
): Promise<void> {
  try {
    await delay(afterMs, undefined, { signal });
    await takeOver(context, registry, [jobStatusKey(organization, jobId)], signal);
  } catch {
    // This leader stops; the next one takes over all active jobs.
  }
}

/**
 * Puts a job into the index of active jobs and adds it to the registry. If the whole index is missing, the job is only added to the registry, because
 * the next index is filled from the log.
 */
export async function admit(
  { bus, logger }: IntakeContext,
  registry: Adds,
  stored: StoredCommit<ExportCommit>,
): Promise<ActiveJob> {
  const { organization, jobId, createdAt } = stored.commit.data.state;
  try {
    await bus.activeJobs.put(jobStatusKey(organization, jobId), { organization, jobId, createdAt });
  } catch (error) {
    if (!(error instanceof BusPartMissing)) throw error;
    logger.warn({ err: error, jobId }, 'an active job is not in the index, which is missing');
  }
  return registry.add(stored);
}

/** Number of commits that are read concurrently. Most are our own, and thousands of jobs write them faster than they could be read one at a time. */
const commitsAtOnce = 16;

/** Reads new jobs until `signal` aborts: each is in the index of active jobs before its request is acknowledged. */
export async function readRequests(
  context: OrchestratorContext,
  registry: JobRegistry,
  signal: AbortSignal,
): Promise<void> {
  await consume({
    service: 'orchestrator',
    stream: 'EXPORTS',
    deadLetters: context.bus.deadLetters,
    deadLetterLog: context.bus.deadLetterLog,
    logger: context.logger,
    retry: everySecond,
    reader: await context.bus.exportReader(),
    handle: (commit, delivery) => takeRequest(context, registry, commit, delivery),
    slots: commitsAtOnce,
    stop: signal,
    abandon: signal,
  });
}

async function takeRequest(
  context: OrchestratorContext,
  registry: JobRegistry,
  commit: ExportCommit,
  { deliveryCount, sequence }: Delivery<ExportCommit>,
): Promise<void> {
  // All later commits are our own.
  const isRequest = commit.data.events.some(({ type }) => type === 'ExportRequested');
  const { organization, jobId } = commit.data.state;
  if (!isRequest || registry.jobs.has(jobId)) return;
  // Another leader may have handled a redelivered request long ago.
  const stored = deliveryCount === 1 ? { commit, sequence } : await lastCommit(context, organization, jobId);
  if (stored !== undefined && isActive(stored.commit.data.state.phase)) await admit(context, registry, stored);
}
