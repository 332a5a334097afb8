import { setTimeout } from 'node:timers/promises';
import { crashPoint } from '#shared/lifecycle/crash-point.ts';
import { type ActiveJob, stateOf } from './active-jobs.ts';
import type { OrchestratorContext } from './context.ts';
import type { JobDesk } from './job-desk.ts';
import { planJob } from './plan-job.ts';

const atOnce = 2;
const retryAfterMs = 1_000;

/** Plans requested jobs in the order they come, two at a time, until `signal` aborts. */
export function jobPlanner(context: OrchestratorContext, desk: () => JobDesk, signal: AbortSignal) {
  const queue: ActiveJob[] = [];
  const planned = new Set<string>();
  const running = new Set<Promise<void>>();

  function begin(): void {
    while (running.size < atOnce && queue.length > 0 && !signal.aborted) {
      const done = plan(queue.shift() as ActiveJob).finally(() => {
        running.delete(done);
        begin();
      });
      running.add(done);
    }
  }

  async function plan(job: ActiveJob): Promise<void> {
    try {
      while (stateOf(job).phase === 'requested') {
        const command = await planJob(context, stateOf(job)).catch((error: unknown) => {
          context.logger.warn({ err: error, jobId: job.jobId }, 'an export could not be planned; it is tried again');
          return undefined;
        });
        if (command === undefined) await setTimeout(retryAfterMs, undefined, { signal });
        else {
          await desk().change(job, command, job.stored.commit.id);
          crashPoint('after-plan-commit', 'orchestrator');
          return;
        }
      }
    } catch (error) {
      if (!signal.aborted) context.logger.error({ err: error, jobId: job.jobId }, 'an export cannot be planned');
    }
  }

  return {
    /** Plans the job if it still has to be. */
    changed(job: ActiveJob): void {
      if (stateOf(job).phase !== 'requested' || planned.has(job.jobId)) return;
      planned.add(job.jobId);
      queue.push(job);
      begin();
    },
    ended: (job: ActiveJob): void => void planned.delete(job.jobId),
    /** Answers when no plan is being made. */
    async settled(): Promise<void> {
      await Promise.all(running);
    },
  };
}
