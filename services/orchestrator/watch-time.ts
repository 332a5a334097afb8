import { setInterval } from 'node:timers/promises';
import { type ActiveJob, stateOf } from './active-jobs.ts';
import type { OrchestratorContext } from './context.ts';
import type { ExportCommand } from './export-command.ts';
import type { HandedOut, WorkerGroup } from './handed-out.ts';
import type { JobDesk } from './job-desk.ts';
import { bundleUnit, closingUnit } from './job-phase.ts';
import type { TaskDispatcher } from './task-dispatcher.ts';

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
