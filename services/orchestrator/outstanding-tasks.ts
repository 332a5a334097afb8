import { chunksOutside } from '#shared/aggregates/export-job/chunk-bitmap.ts';
import {
  attemptOf,
  attemptsBeforePagesAlone,
  bundleUnit,
  closingUnit,
  type ExportJobState,
  type WorkUnit,
} from '#shared/aggregates/export-job/export-job.ts';
import type { BundleTask, RenderTask } from '#shared/contracts/export-tasks.ts';

/** Workers that may take a task: renderers of one version, or the bundlers. */
export type WorkerGroup = { service: 'page-renderer'; rendererVersion: string } | { service: 'bundler' };

export type HandedOut = Pick<ExportJobState, 'organization' | 'organizationPlan'> & {
  taskId: string;
  jobId: string;
  unit: WorkUnit;
  attempt: number;
  group: WorkerGroup;
};

type Entry = HandedOut & { reported: boolean; silentMs: number; heldMs: number; isOver: boolean };

/** Time after which a task of a job that ended is forgotten, if no worker names it. */
const forgottenAfterMs = 60_000;

export const groupName = (group: WorkerGroup): string =>
  group.service === 'bundler' ? 'bundler' : group.rendererVersion;

const isOf = (service: WorkerGroup['service'], name: string): boolean =>
  (service === 'bundler') === (name === 'bundler');

/**
 * Tasks that were handed out and whose outcome is not in the log yet. A task holds a credit of its group until a worker reports it; it stays known
 * until the report is committed, so that it is not redispatched in between. Queries about a job or a group do not iterate over the tasks of
 * others.
 */
export type HandedOutTasks = {
  add(task: HandedOut): void;
  /** The units of a job in flight, reported or not. */
  unitsOf(jobId: string): ReadonlySet<WorkUnit>;
  /** The unit of a task that was handed out. */
  unitOf(taskId: string): WorkUnit | undefined;
  /** True if the job has a task that was handed out and is not reported yet. */
  isOut(jobId: string): boolean;
  /** Credits in use of a group. */
  inUse(group: WorkerGroup): number;
  /** Credits in use of all groups of a service. */
  inUseBy(service: WorkerGroup['service']): number;
  /** Frees the credit of a unit that a worker reported. With `attempt`, only for that attempt. */
  reported(jobId: string, unit: WorkUnit, attempt?: number): void;
  /** Forgets, after a commit, the job's tasks that are no longer current, and reports that changed nothing. */
  keepOnly(jobId: string, isCurrent: (task: HandedOut) => boolean): void;
  /** Forgets all tasks of a job that has ended. */
  endJob(jobId: string): void;
  remove(taskId: string): void;
  /**
   * Counts `elapsedMs` as silence for each task that no worker names although a worker of its group is free, and returns the tasks that reached
   * `lostAfterMs`. While all workers are busy or silent, a task may wait in the queue without a limit.
   */
  countSilence(
    elapsedMs: number,
    lostAfterMs: number,
    isHeld: (taskId: string) => boolean,
    hasFreeWorker: (group: WorkerGroup) => boolean,
  ): HandedOut[];
  /**
   * Counts `elapsedMs` for each task that a worker reports, and returns the tasks that a worker has held for longer than `turnMs`. Tasks of jobs that
   * ended (`isOver`) count, too, until the worker gives them up.
   */
  countHeld(
    elapsedMs: number,
    turnMs: number,
    isHeld: (taskId: string) => boolean,
  ): (HandedOut & { isOver: boolean })[];
};

export function handedOutTasks(): HandedOutTasks {
  const entries = new Map<string, Entry>();
  const byJob = new Map<string, Set<Entry>>();
  const used = new Map<string, number>();
  /** Tasks that were withdrawn without a report. A worker may still have them. */
  const left = new Map<string, Entry>();
  const ofJob = (jobId: string): Iterable<Entry> => byJob.get(jobId) ?? [];
  const use = ({ group }: Entry, credits: number): void => {
    const name = groupName(group);
    const inUse = (used.get(name) ?? 0) + credits;
    if (inUse === 0) used.delete(name);
    else used.set(name, inUse);
  };
  function setReported(entry: Entry, reported: boolean): void {
    if (entry.reported !== reported) use(entry, reported ? -1 : 1);
    entry.reported = reported;
  }
  function remove(entry: Entry): void {
    entries.delete(entry.taskId);
    const own = byJob.get(entry.jobId);
    own?.delete(entry);
    if (own?.size === 0) byJob.delete(entry.jobId);
    if (entry.reported) return;
    use(entry, -1);
    left.set(entry.taskId, { ...entry, silentMs: 0 });
  }
  return {
    add(task) {
      const entry = { ...task, reported: false, silentMs: 0, heldMs: 0, isOver: false };
      const known = entries.get(task.taskId);
      if (known !== undefined) remove(known);
      left.delete(task.taskId);
      entries.set(task.taskId, entry);
      const own = byJob.get(task.jobId) ?? new Set();
      byJob.set(task.jobId, own.add(entry));
      use(entry, 1);
    },
    unitsOf: (jobId) => new Set([...ofJob(jobId)].map(({ unit }) => unit)),
    unitOf: (taskId) => entries.get(taskId)?.unit,
    isOut: (jobId) => [...ofJob(jobId)].some(({ reported }) => !reported),
    inUse: (group) => used.get(groupName(group)) ?? 0,
    inUseBy: (service) => [...used].reduce((sum, [name, credits]) => sum + (isOf(service, name) ? credits : 0), 0),
    reported: (jobId, unit, attempt) => {
      for (const entry of ofJob(jobId)) {
        if (entry.unit === unit && (attempt === undefined || entry.attempt === attempt)) setReported(entry, true);
      }
    },
    keepOnly: (jobId, isCurrent) => {
      for (const entry of [...ofJob(jobId)]) {
        if (isCurrent(entry)) setReported(entry, false);
        else remove(entry);
      }
    },
    endJob: (jobId) => {
      for (const entry of [...ofJob(jobId)]) remove(entry);
      for (const entry of left.values()) if (entry.jobId === jobId) entry.isOver = true;
    },
    remove: (taskId) => {
      const entry = entries.get(taskId);
      if (entry !== undefined) remove(entry);
    },
    countSilence: (elapsedMs, lostAfterMs, isHeld, hasFreeWorker) => {
      const lost: HandedOut[] = [];
      for (const entry of entries.values()) {
        if (entry.reported) continue;
        if (isHeld(entry.taskId)) entry.silentMs = 0;
        else if (hasFreeWorker(entry.group)) entry.silentMs += elapsedMs;
        if (entry.silentMs >= lostAfterMs) lost.push(entry);
      }
      return lost;
    },
    countHeld: (elapsedMs, turnMs, isHeld) => {
      for (const [taskId, entry] of left) {
        entry.silentMs = isHeld(taskId) ? 0 : entry.silentMs + elapsedMs;
        if (entry.silentMs >= forgottenAfterMs) left.delete(taskId);
      }
      const long: Entry[] = [];
      for (const entry of [...entries.values(), ...left.values()]) {
        if (entry.reported || !isHeld(entry.taskId)) continue;
        entry.heldMs += elapsedMs;
        if (entry.heldMs > turnMs) long.push(entry);
      }
      return long;
    },
  };
}

/** The units of work that remain in the job's phase. Chunks of later attempts come first, so that few chunks are between attempts at a time. Pure. */
export function openUnits(state: ExportJobState): WorkUnit[] {
  if (state.phase === 'closing') return [closingUnit];
  if (state.phase === 'joining') return [bundleUnit];
  if (state.phase !== 'rendering') return [];
  const open = chunksOutside(state.chunkCount, state.doneChunks, state.failedChunks);
  const repeated = open.filter((chunk) => attemptOf(state, chunk) > 1);
  return repeated.length === 0 ? open : [...repeated, ...open.filter((chunk) => attemptOf(state, chunk) === 1)];
}

/**
 * The same attempt at the same work has the same id, so a task that is handed out twice around a change of leader is stored once. After a lost
 * segment, a new plan or a postponement the same attempt is new work, which the queue must not deduplicate. Pure.
 */
export function taskIdOf(state: ExportJobState, unit: WorkUnit, postponements = 0): string {
  const lost = state.lostSegments === undefined ? '' : `.${state.lostSegments}`;
  const replanned = state.replans === undefined ? '' : `.p${state.replans}`;
  const postponed = postponements === 0 ? '' : `.w${postponements}`;
  return `${state.jobId}.${unit}.${attemptOf(state, unit)}${lost}${replanned}${postponed}`;
}

/** The workers for the job's current work; undefined before the plan. */
export function groupOf(state: ExportJobState): WorkerGroup | undefined {
  if (state.phase === 'joining') return { service: 'bundler' };
  return state.rendererVersion === undefined
    ? undefined
    : { service: 'page-renderer', rendererVersion: state.rendererVersion };
}

/** The task of a planned job's unit. Throws if the job has no plan. */
export function taskOf(
  state: ExportJobState,
  unit: WorkUnit,
  {
    traceparent,
    after,
    postponements,
  }: { traceparent?: string | undefined; after?: string | undefined; postponements?: number | undefined } = {},
): RenderTask | BundleTask {
  const { planHash, rendererVersion, organization, jobId, domain } = state;
  if (planHash === undefined || rendererVersion === undefined) throw new Error(`The job ${jobId} has no plan yet.`);
  const attempt = attemptOf(state, unit);
  const common = {
    version: 1 as const,
    taskId: taskIdOf(state, unit, postponements),
    organization,
    jobId,
    domain,
    planHash,
    attempt,
    ...(state.replayOf === undefined ? {} : { anew: true as const }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  // After a loss nothing is copied from an earlier bundle, because a copy of a damaged part would be lost again.
  const like = after !== undefined && attempt === 1 && state.lostSegments === undefined ? { after } : {};
  if (unit === bundleUnit) return { ...common, kind: 'bundle', ...like };
  if (unit === closingUnit) {
    const lost = state.lostSegments === undefined ? {} : { segmentsLost: true as const };
    return { ...common, kind: 'closing', rendererVersion, ...like, ...lost };
  }
  return {
    ...common,
    kind: 'chunk',
    rendererVersion,
    chunk: unit,
    pagesAlone: attempt > attemptsBeforePagesAlone,
  };
}
