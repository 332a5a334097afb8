import { isActive, type WorkUnit } from '#shared/aggregates/export-job/export-job.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import type { OrchestratorContext } from './context.ts';
import { type FairQueue, fairQueue } from './fair-queue.ts';
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
import { type RefusedJobs, refusedJobs } from './refused-jobs.ts';
import { creditsFor } from './worker-pool.ts';

export type TaskDispatcher = {
  /** Checks again which work of a changed job can be handed out. */
  changed(job: ActiveJob): void;
  ended(job: ActiveJob): void;
  /** Frees the credit of a unit that a worker reported. Without `attempt` the report is a success. */
  reported(jobId: string, unit: WorkUnit, attempt?: number): void;
  /** Frees the credit of a task whose worker could not reach the object store. Its work is redispatched after a pause. */
  postponed(jobId: string, taskId: string, reason: string): void;
  refusedFor: RefusedJobs['refusedFor'];
  /** Restarts the timer of a refused job. */
  forgetRefusal(job: ActiveJob): void;
  /** True if no work of the job is waiting or in flight, so that no more facts will come. */
  isQuiet(jobId: string): boolean;
  /** Hands out work while there are credits. Resolves when all of it is in the queue. */
  handOut(): Promise<void>;
  /**
   * Charges organizations for tasks that workers have for longer than a turn, and withdraws those of jobs that ended. `isHeld` tells if a worker
   * reports the task as in flight.
   */
  timePassed(elapsedMs: number, isHeld: (taskId: string) => boolean): void;
  /** Resolves when nothing is being handed out. */
  settled(): Promise<void>;
  tasks: Pick<HandedOutTasks, 'countSilence' | 'remove' | 'inUseBy'>;
};

type DispatchContext = Pick<OrchestratorContext, 'renderers' | 'bundlers' | 'logger'> & {
  bus: Pick<OrchestratorContext['bus'], 'tasks' | 'withdrawals'>;
};

/** Time of a worker for one turn. Nearly all chunks take less. */
const turnMs = 2_000;

type Place = { group: WorkerGroup; queue: FairQueue<ActiveJob> };

/** Hands out work with credits. Work without a credit waits in the log, not in the queue. The cost of a task hardly depends on the number of waiting jobs. */
export function taskDispatcher(context: DispatchContext): TaskDispatcher {
  const handedOut = handedOutTasks();
  const refused = refusedJobs();
  const jobs = new Map<string, ActiveJob>();
  /** Waiting jobs by group of workers: an organization without work for one group may wait for another. Empty entries are removed. */
  const places = new Map<string, Place>();
  const placeOf = new Map<ActiveJob, Place>();
  let running: Promise<void> | undefined;
  let again = false;

  function refresh(job: ActiveJob): void {
    const state = stateOf(job);
    const open = openUnits(state);
    const left = new Set(open);
    const idOf = (unit: WorkUnit) => taskIdOf(state, unit, job.postponements.get(unit));
    handedOut.keepOnly(job.jobId, ({ unit, taskId }) => left.has(unit) && taskId === idOf(unit));
    const out = handedOut.unitsOf(job.jobId);
    job.waiting = allowed(
      job,
      open.filter((unit) => !out.has(unit)),
    );
    place(job);
  }

  /**
   * The waiting units that may be handed out: all, or at most one if the store refused tasks of the job. It is another unit each time, because a
   * single unit may be the cause.
   */
  function allowed(job: ActiveJob, waiting: WorkUnit[]): WorkUnit[] {
    const refusal = refused.of(job);
    if (refusal === undefined) return waiting;
    const mayTry = refusal.mayTry && !handedOut.isOut(job.jobId) && waiting.length > 0;
    const at = refusal.tries % waiting.length;
    return mayTry ? waiting.slice(at, at + 1) : [];
  }

  /** Queues the job for the workers that can do its work, if any of it is not handed out. */
  function place(job: ActiveJob): void {
    const state = stateOf(job);
    const group = job.waiting.length > 0 ? groupOf(state) : undefined;
    const before = placeOf.get(job);
    if (before !== undefined && (group === undefined || groupName(group) !== groupName(before.group))) {
      before.queue.remove(job);
      placeOf.delete(job);
      if (before.queue.size === 0) places.delete(groupName(before.group));
    }
    if (group === undefined) return;
    const name = groupName(group);
    const next = places.get(name) ?? { group, queue: fairQueue() };
    places.set(name, next);
    placeOf.set(job, next);
    const lastStep = state.phase === 'closing' || state.phase === 'joining';
    next.queue.put(job, state.organizationPlan, { lastStep });
  }

  /** Takes the next task for which there is a credit. */
  function take(): { job: ActiveJob; unit: WorkUnit; group: WorkerGroup } | undefined {
    for (const { group, queue } of places.values()) {
      const job = credits(group) > 0 ? queue.next() : undefined;
      const unit = job?.waiting.shift();
      if (job === undefined || unit === undefined) continue;
      place(job);
      return { job, unit, group };
    }
    return undefined;
  }

  function credits(group: WorkerGroup): number {
    const slots =
      group.service === 'bundler' ? context.bundlers.liveSlots() : context.renderers.liveSlots(group.rendererVersion);
    return creditsFor(slots) - handedOut.inUse(group);
  }

  async function submit(job: ActiveJob, unit: WorkUnit, group: WorkerGroup): Promise<void> {
    const state = stateOf(job);
    const task = taskOf(state, unit, {
      traceparent: job.stored.commit.traceparent,
      after: job.after,
      postponements: job.postponements.get(unit),
    });
    const { taskId, jobId, attempt } = task;
    const { organization, organizationPlan } = state;
    handedOut.add({ taskId, jobId, unit, attempt, group, organization, organizationPlan });
    try {
      if (task.kind === 'bundle') await context.bus.tasks.submit(task);
      else await context.bus.tasks.submit(task);
      crashPoint('after-task-publish', 'orchestrator');
    } catch (error) {
      // The task may be in the queue nevertheless; the queue deduplicates by id.
      context.logger.warn({ err: error, taskId }, 'a task could not be handed out; it is retried');
      handedOut.remove(taskId);
      if (jobs.get(jobId) === job) refresh(job);
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
    changed(job) {
      jobs.set(job.jobId, job);
      refresh(job);
    },
    ended(job) {
      jobs.delete(job.jobId);
      refused.forget(job);
      if (isActive(stateOf(job).phase)) handedOut.keepOnly(job.jobId, () => false);
      else handedOut.endJob(job.jobId);
      job.waiting = [];
      place(job);
    },
    reported(jobId, unit, attempt) {
      handedOut.reported(jobId, unit, attempt);
      const job = jobs.get(jobId);
      if (job === undefined || attempt !== undefined || refused.of(job) === undefined) return;
      refused.forget(job);
      refresh(job);
    },
    postponed(jobId, taskId, reason) {
      const job = jobs.get(jobId);
      const unit = handedOut.unitOf(taskId);
      if (job === undefined || unit === undefined) return;
      job.postponements.set(unit, (job.postponements.get(unit) ?? 0) + 1);
      handedOut.remove(taskId);
      refused.postponed(job, reason);
      refresh(job);
    },
    refusedFor: (ms) => refused.refusedFor(ms),
    forgetRefusal: (job) => refused.forget(job),
    isQuiet: (jobId) => {
      const job = jobs.get(jobId);
      return job !== undefined && job.waiting.length === 0 && !handedOut.isOut(jobId);
    },
    handOut: () => {
      again = true;
      running ??= handOutAll().finally(() => {
        running = undefined;
      });
      return running;
    },
    timePassed(elapsedMs, isHeld) {
      for (const job of refused.timePassed(elapsedMs)) refresh(job);
      const long = handedOut.countHeld(elapsedMs, turnMs, isHeld);
      for (const { group, organization, organizationPlan } of long)
        places.get(groupName(group))?.queue.charge(organization, organizationPlan, elapsedMs / turnMs);
      // A worker finishes shorter tasks sooner than it would replace a killed child.
      const over = Object.groupBy(
        long.filter(({ isOver }) => isOver),
        ({ group }) => group.service,
      );
      for (const [service, tasks] of Object.entries(over))
        context.bus.withdrawals.withdraw(
          service,
          tasks.map(({ taskId }) => taskId),
        );
    },
    settled: async () => {
      again = false;
      await running;
    },
    tasks: handedOut,
  };
}
