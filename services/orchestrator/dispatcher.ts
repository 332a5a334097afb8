import type { WorkUnit } from '#shared/aggregates/export-job/export-job.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { nextTraceparent } from '#shared/runtime/telemetry.ts';
import type { OrchestratorContext } from './context.ts';
import { pickWork, type Round, windowSize } from './fair-share.ts';
import { type ActiveJob, stateOf } from './job-registry.ts';
import {
  groupName,
  groupOf,
  type HandedOutTasks,
  handedOutTasks,
  openUnits,
  taskIdOf,
  taskOf,
  type WorkerGroup,
} from './outstanding-tasks.ts';

export type TaskDispatcher = {
  /** Looks again at which work of the job can be handed out. */
  changed(job: ActiveJob): void;
  ended(job: ActiveJob): void;
  /** A worker reported the unit: its credit is free. */
  reported(jobId: string, unit: WorkUnit, attempt?: number): void;
  /** No work of the job is waiting or in a worker's hand, so no more facts will come. */
  isQuiet(jobId: string): boolean;
  /** Hands out work while there are credits. Answers when all of it is in the queue. */
  handOut(): Promise<void>;
  /** Answers when nothing is being handed out. */
  settled(): Promise<void>;
  tasks: Pick<HandedOutTasks, 'countSilence' | 'remove'>;
};

type DispatchContext = Pick<OrchestratorContext, 'bus' | 'renderers' | 'bundlers' | 'logger'>;

/** Hands out work with credits. Work without a credit waits in the log, not in the queue. */
export function taskDispatcher(context: DispatchContext, jobs: () => ReadonlyMap<string, ActiveJob>): TaskDispatcher {
  const handedOut = handedOutTasks();
  /** By group of workers: an organization without work for one group may wait for another. */
  const rounds = new Map<string, Round>();
  let turn = 0;
  let running: Promise<void> | undefined;
  let again = false;

  function refresh(job: ActiveJob): void {
    const state = stateOf(job);
    const open = openUnits(state);
    handedOut.keepOnly(job.jobId, new Set(open.map((unit) => taskIdOf(state, unit))));
    job.waiting = open.filter((unit) => !handedOut.has(taskIdOf(state, unit)));
  }

  /** The next task that has a credit, marked as handed out. */
  function take(): { job: ActiveJob; unit: WorkUnit; group: WorkerGroup } | undefined {
    const waiting = new Map<string, { group: WorkerGroup; jobs: ActiveJob[] }>();
    for (const job of jobs().values()) {
      const group = job.waiting.length > 0 ? groupOf(stateOf(job)) : undefined;
      if (group === undefined) continue;
      const entry = waiting.get(groupName(group)) ?? { group, jobs: [] };
      waiting.set(groupName(group), entry);
      entry.jobs.push(job);
    }
    for (const [name, { group, jobs: candidateJobs }] of waiting) {
      if (credits(group) <= 0) continue;
      const candidates = candidateJobs.map((job) => ({
        job,
        organization: job.organization,
        organizationPlan: stateOf(job).organizationPlan,
        servedAt: job.servedAt,
        lastStep: stateOf(job).phase === 'closing' || stateOf(job).phase === 'joining',
      }));
      const picked = pickWork(candidates, rounds.get(name) ?? []);
      if (picked === undefined) continue;
      rounds.set(name, picked.round);
      turn += 1;
      const { job } = picked.job;
      job.servedAt = turn;
      return { job, unit: job.waiting.shift() as WorkUnit, group };
    }
    return undefined;
  }

  function credits(group: WorkerGroup): number {
    const slots =
      group.service === 'bundler' ? context.bundlers.liveSlots() : context.renderers.liveSlots(group.rendererVersion);
    return windowSize(slots) - handedOut.inUse(group);
  }

  async function submit(job: ActiveJob, unit: WorkUnit, group: WorkerGroup): Promise<void> {
    const { traceparent } = job.stored.commit;
    const task = taskOf(stateOf(job), unit, traceparent === undefined ? undefined : nextTraceparent(traceparent));
    const { taskId, jobId, attempt } = task;
    handedOut.add({ taskId, jobId, unit, attempt, group });
    try {
      if (task.kind === 'bundle') await context.bus.tasks.submit(task);
      else await context.bus.tasks.submit(task);
      crashPoint('after-task-publish', 'orchestrator');
    } catch (error) {
      // It may be in the queue all the same: the queue stores the same id once.
      context.logger.warn({ err: error, taskId }, 'a task could not be handed out; it is tried again');
      handedOut.remove(taskId);
      refresh(job);
    }
  }

  async function handOutAll(): Promise<void> {
    do {
      again = false;
      const submits: Promise<void>[] = [];
      for (let next = take(); next !== undefined; next = take()) submits.push(submit(next.job, next.unit, next.group));
      await Promise.all(submits);
    } while (again);
  }

  return {
    changed: refresh,
    ended: (job) => handedOut.keepOnly(job.jobId, new Set()),
    reported: (jobId, unit, attempt) => handedOut.reported(jobId, unit, attempt),
    isQuiet: (jobId) => {
      const job = jobs().get(jobId);
      return job !== undefined && job.waiting.length === 0 && !handedOut.isOut(jobId);
    },
    handOut: () => {
      again = true;
      running ??= handOutAll().finally(() => {
        running = undefined;
      });
      return running;
    },
    settled: async () => {
      again = false;
      await running;
    },
    tasks: handedOut,
  };
}
