import { setInterval } from 'node:timers/promises';
import type { ExportCommand } from '#shared/aggregates/export-job/decide.ts';
import { bundleUnit, closingUnit } from '#shared/aggregates/export-job/export-job.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { activeJobKeys, keepIndexComplete } from './active-job-index.ts';
import type { OrchestratorContext } from './context.ts';
import { taskDispatcher, type TaskDispatcher } from './dispatcher.ts';
import { readRequests, takeAgain, takeOver } from './job-intake.ts';
import { type ActiveJob, jobRegistry, type JobRegistry, stateOf } from './job-registry.ts';
import type { HandedOut, WorkerGroup } from './outstanding-tasks.ts';
import { type PinnedJobs, pinnedJobs } from './pinned-jobs.ts';
import { type JobPlanner, jobPlanner } from './planner.ts';
import { type PriorityQueue, priorityQueue } from './priority-queue.ts';
import { readFacts } from './read-facts.ts';

/** The work of the leading orchestrator, until `signal` aborts. Rejects when a part of it fails; then the next leader takes over. */
export async function lead(context: OrchestratorContext, signal: AbortSignal): Promise<void> {
  const part = new AbortController();
  const working = AbortSignal.any([signal, part.signal]);
  const dispatcher = taskDispatcher(context);
  const planner = jobPlanner(context, () => registry, working);
  const deadlines = priorityQueue<ActiveJob>((a, b) => stateOf(a).createdAt < stateOf(b).createdAt);
  const pinned = pinnedJobs(context.renderers);
  const registry = jobRegistry(
    context,
    {
      added: (job) => deadlines.put(job),
      changed: (job) => {
        planner.changed(job);
        pinned.changed(job);
        dispatcher.changed(job);
        void dispatcher.handOut();
      },
      ended: (job) => {
        deadlines.remove(job);
        planner.ended(job);
        pinned.ended(job);
        dispatcher.ended(job);
      },
      setAside: (job) => void takeAgain(context, registry, job, working),
    },
    working,
  );
  const leadsNoMore = context.measures.leads(() => [...registry.jobs.values()].map(stateOf), dispatcher.tasks);
  try {
    // The leader works meanwhile: a job that cannot be read yet does not delay others.
    const indexed = activeJobKeys(context, working);
    const take = (keys: readonly string[]) => takeOver(context, registry, keys, working);
    const takingOver = indexed.then(take);
    takingOver.catch(() => part.abort());
    const keepingIndex = async () => {
      await indexed;
      await keepIndexComplete(context, (keys) => void take(keys).catch(() => {}), working);
    };
    const parts = [
      keepingIndex(),
      readRequests(context, registry, working),
      readFacts(context, registry, dispatcher, working),
      watchTime(context, { registry, dispatcher, planner, pinned, deadlines }, working),
    ];
    // When one part ends, the others are stopped.
    for (const running of parts) running.catch(() => {}).finally(() => part.abort());
    const outcomes = await Promise.allSettled([takingOver, ...parts]);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined && !signal.aborted) throw failed.reason;
  } finally {
    part.abort();
    leadsNoMore();
    await planner.settled();
    await dispatcher.settled();
    await Promise.all([...registry.jobs.values()].map(({ lastDecision }) => lastDecision));
  }
}

const everyMs = 1_000;
/** Upper bound for a step of time. If this process pauses for longer, the rest does not count as silence of workers. */
const longestStepMs = 2_000;

/**
 * Gives up lost tasks, charges organizations for long ones, replans jobs whose renderers are gone, fails jobs over their deadline, and uses free
 * credits, once a second until `signal` aborts. It does not iterate over other jobs.
 */
async function watchTime(
  context: OrchestratorContext,
  { registry, dispatcher, planner, pinned, deadlines }: Leading,
  signal: AbortSignal,
): Promise<void> {
  /** The change is not awaited, so that jobs do not wait for each other. The registry logs a failed change; one that cannot be decided now is logged here. */
  const change = (job: ActiveJob, command: ExportCommand): void => {
    registry.change(job, command, job.stored.commit.id).catch((error: unknown) => {
      if (!(error instanceof Unavailable)) return;
      context.logger.warn({ err: error, jobId: job.jobId, command: command.type }, 'a decision cannot be made yet');
      // The lost work is redispatched, and is lost again if no worker takes it. The job may have ended meanwhile.
      if (registry.jobs.get(job.jobId) === job) dispatcher.changed(job);
    });
  };
  let last = context.clock.now().getTime();
  try {
    for await (const _ of setInterval(everyMs, undefined, { signal })) {
      const now = context.clock.now().getTime();
      const elapsed = Math.min(longestStepMs, Math.max(0, now - last));
      last = now;
      const isHeld = (taskId: string) => context.renderers.holds(taskId) || context.bundlers.holds(taskId);
      const lost = dispatcher.tasks.countSilence(elapsed, context.taskLostAfterMs, isHeld, (group) =>
        hasFreeWorker(context, group),
      );
      dispatcher.timePassed(elapsed, isHeld);
      for (const task of lost) {
        context.logger.warn({ taskId: task.taskId }, 'a task was lost');
        dispatcher.tasks.remove(task.taskId);
        context.measures.taskLost(task.group.service);
        const job = registry.jobs.get(task.jobId);
        if (job !== undefined) change(job, timeOut(task));
      }
      for (const job of pinned.stranded(elapsed, context.rendererGoneAfterMs)) planner.replan(job);
      for (let job = deadlines.first(); job !== undefined; job = deadlines.first()) {
        const late = overdue(job, now, context.exportDeadlineMs);
        if (late === undefined) break;
        // The job ends or leaves the registry, so its deadline is no longer watched.
        deadlines.remove(job);
        change(job, late);
      }
      for (const { job, reason } of dispatcher.refusedFor(context.refusedForMs)) {
        // The change ends the job or removes it from the registry. If it cannot be decided now, the job counts as refused again.
        dispatcher.forgetRefusal(job);
        change(job, refusedTooLong(reason, context.refusedForMs));
      }
      void dispatcher.handOut();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

type Leading = {
  registry: JobRegistry;
  dispatcher: TaskDispatcher;
  planner: JobPlanner;
  pinned: PinnedJobs;
  /** The job with the earliest deadline comes first. */
  deadlines: PriorityQueue<ActiveJob>;
};

function hasFreeWorker({ renderers, bundlers }: OrchestratorContext, group: WorkerGroup): boolean {
  return group.service === 'bundler' ? bundlers.hasFreeSlot() : renderers.hasFreeSlot(group.rendererVersion);
}

function timeOut({ unit, attempt }: HandedOut): ExportCommand {
  if (unit === closingUnit) return { type: 'TimeOutClosing', attempt };
  return unit === bundleUnit ? { type: 'TimeOutBundle', attempt } : { type: 'TimeOutChunk', chunk: unit, attempt };
}

/** The command that ends a job whose deadline has passed; undefined before. Its error says how far the job came and, without a plan, why. Pure. */
export function overdue(job: ActiveJob, now: number, deadlineMs: number): ExportCommand | undefined {
  const { createdAt, pageCount, pageTotal, phase } = stateOf(job);
  if (now - Date.parse(createdAt) < deadlineMs) return undefined;
  const why = job.planWaitsFor === undefined ? '' : `, because ${job.planWaitsFor.slice(0, 300).replace(/\.$/, '')}`;
  const reached =
    phase === 'requested' ? `it was not planned yet${why}` : `${pageCount} of ${pageTotal} pages were rendered`;
  const minutes = Math.round(deadlineMs / 60_000);
  return {
    type: 'Fail',
    error: `The export did not end within ${minutes} minutes: ${reached}. Rendered pages are kept for the next export.`,
  };
}

function refusedTooLong(reason: string, refusedForMs: number): ExportCommand {
  const minutes = Math.round(refusedForMs / 60_000);
  return {
    type: 'Fail',
    error: `The object store was unavailable for ${minutes} minutes: ${reason}. Rendered pages are kept for the next export.`,
  };
}
