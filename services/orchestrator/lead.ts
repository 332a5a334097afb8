import { setInterval, setTimeout } from 'node:timers/promises';
import type { ExportCommand } from '#shared/aggregates/export-job/decide.ts';
import { bundleUnit, closingUnit } from '#shared/aggregates/export-job/export-job.ts';
import type { OrchestratorContext } from './context.ts';
import { taskDispatcher, type TaskDispatcher } from './dispatcher.ts';
import { readRequests, takeOver } from './job-intake.ts';
import { type ActiveJob, jobDesk, type JobDesk, stateOf } from './job-registry.ts';
import type { HandedOut, WorkerGroup } from './outstanding-tasks.ts';
import { jobPlanner } from './planner.ts';
import { readFacts } from './read-facts.ts';

/** The work of the one orchestrator that leads, until `signal` aborts. Rejects when a part of it cannot go on; whoever leads next takes over. */
export async function lead(context: OrchestratorContext, signal: AbortSignal): Promise<void> {
  const part = new AbortController();
  const working = AbortSignal.any([signal, part.signal]);
  const dispatcher = taskDispatcher(context, () => desk.jobs);
  const planner = jobPlanner(context, () => desk, working);
  const desk = jobDesk(
    context,
    {
      changed: (job) => {
        planner.changed(job);
        dispatcher.changed(job);
        void dispatcher.handOut();
      },
      ended: (job) => {
        planner.ended(job);
        dispatcher.ended(job);
      },
    },
    working,
  );
  try {
    await takeOver(context, desk, working);
    const parts = [
      readRequests(context, desk, working),
      readFacts(context, desk, dispatcher, working),
      watchTime(context, desk, dispatcher, working),
    ];
    // When one ends the others have no use without it.
    for (const running of parts) running.catch(() => {}).finally(() => part.abort());
    const outcomes = await Promise.allSettled(parts);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined && !signal.aborted) throw failed.reason;
  } finally {
    part.abort();
    await planner.settled();
    await dispatcher.settled();
    await Promise.all([...desk.jobs.values()].map(({ lastDecision }) => lastDecision));
  }
}

const retryAfterMs = 1_000;

/** Leads whenever it can get the lease, until `signal` aborts. A paused leader that wakes finds the lease lost, and the log's guard before that. */
export async function leadByTurns(context: OrchestratorContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const lease = await context.bus.leases.acquire('orchestrator', context.instance, signal);
      context.logger.info('leads');
      try {
        await lead(context, AbortSignal.any([signal, lease.lost]));
      } finally {
        await lease.release();
      }
    } catch (error) {
      if (signal.aborted) return;
      context.logger.warn({ err: error }, 'stopped leading; it tries to lead again');
      await setTimeout(retryAfterMs, undefined, { signal }).catch(() => {});
    }
  }
}

const everyMs = 1_000;
/** A pause of this process is no silence of others. */
const longestStepMs = 2_000;

/** Once a second until `signal` aborts: tasks that got lost are given up, jobs over their deadline fail, and free credits are used. */
export async function watchTime(
  context: OrchestratorContext,
  desk: JobDesk,
  dispatcher: TaskDispatcher,
  signal: AbortSignal,
): Promise<void> {
  const change = (job: ActiveJob, command: ExportCommand) =>
    desk.change(job, command, job.stored.commit.id).catch((error: unknown) => {
      if (!signal.aborted) context.logger.error({ err: error, jobId: job.jobId }, 'a job cannot be changed');
    });
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
      for (const task of lost) {
        context.logger.warn({ taskId: task.taskId }, 'a task got lost');
        dispatcher.tasks.remove(task.taskId);
        const job = desk.jobs.get(task.jobId);
        if (job !== undefined) await change(job, timeOut(task));
      }
      for (const job of [...desk.jobs.values()]) {
        const late = overdue(job, now, context.exportDeadlineMs);
        if (late !== undefined) await change(job, late);
      }
      void dispatcher.handOut();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function hasFreeWorker({ renderers, bundlers }: OrchestratorContext, group: WorkerGroup): boolean {
  return group.service === 'bundler' ? bundlers.hasFreeSlot() : renderers.hasFreeSlot(group.rendererVersion);
}

function timeOut({ unit, attempt }: HandedOut): ExportCommand {
  if (unit === closingUnit) return { type: 'TimeOutClosing', attempt };
  return unit === bundleUnit ? { type: 'TimeOutBundle', attempt } : { type: 'TimeOutChunk', chunk: unit, attempt };
}

function overdue(job: ActiveJob, now: number, deadlineMs: number): ExportCommand | undefined {
  const { createdAt, pageCount, pageTotal, phase } = stateOf(job);
  if (now - Date.parse(createdAt) < deadlineMs) return undefined;
  const reached = phase === 'requested' ? 'it was not planned yet' : `${pageCount} of ${pageTotal} pages were rendered`;
  const minutes = Math.round(deadlineMs / 60_000);
  return {
    type: 'Fail',
    error: `The export did not end within ${minutes} minutes: ${reached}. What was rendered is kept for the next export.`,
  };
}
