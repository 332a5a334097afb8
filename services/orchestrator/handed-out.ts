import type { WorkUnit } from './job-phase.ts';

/** Who may take a task: renderers of one version, or the bundlers. */
export type WorkerGroup = { service: 'page-renderer'; rendererVersion: string } | { service: 'bundler' };

export type HandedOut = { taskId: string; jobId: string; unit: WorkUnit; attempt: number; group: WorkerGroup };

type Entry = HandedOut & { reported: boolean; silentMs: number };

export const groupName = (group: WorkerGroup): string =>
  group.service === 'bundler' ? 'bundler' : group.rendererVersion;

/**
 * Tasks that were handed out and whose outcome is not in the log yet. A task holds a credit of its group until a worker reports it;
 * it stays known until the report is committed, so that it is not handed out again in between.
 */
export type HandedOutTasks = {
  add(task: HandedOut): void;
  has(taskId: string): boolean;
  /** Whether a task of the job is out that no worker reported. */
  isOut(jobId: string): boolean;
  /** Credits in use of a group. */
  inUse(group: WorkerGroup): number;
  /** A worker reported the unit: its credit is free again. With `attempt`, only if that one is out. */
  reported(jobId: string, unit: WorkUnit, attempt?: number): void;
  /** After a commit: forgets the job's tasks that are not in `current`, and believes no report that changed nothing. */
  keepOnly(jobId: string, current: ReadonlySet<string>): void;
  remove(taskId: string): void;
  /**
   * Counts `elapsedMs` as silence for each task that no worker names although one of its group is free, and gives those that reached
   * `lostAfterMs`. While all are busy or none is heard a task may wait in the queue as long as it takes.
   */
  countSilence(
    elapsedMs: number,
    lostAfterMs: number,
    isHeld: (taskId: string) => boolean,
    hasFreeWorker: (group: WorkerGroup) => boolean,
  ): HandedOut[];
  clear(): void;
};

export function handedOutTasks(): HandedOutTasks {
  const entries = new Map<string, Entry>();
  const ofJob = (jobId: string): Entry[] => [...entries.values()].filter((entry) => entry.jobId === jobId);
  return {
    add: (task) => void entries.set(task.taskId, { ...task, reported: false, silentMs: 0 }),
    has: (taskId) => entries.has(taskId),
    isOut: (jobId) => ofJob(jobId).some(({ reported }) => !reported),
    inUse: (group) => {
      let used = 0;
      for (const entry of entries.values()) {
        if (!entry.reported && groupName(entry.group) === groupName(group)) used += 1;
      }
      return used;
    },
    reported: (jobId, unit, attempt) => {
      for (const entry of ofJob(jobId)) {
        if (entry.unit === unit && (attempt === undefined || entry.attempt === attempt)) entry.reported = true;
      }
    },
    keepOnly: (jobId, current) => {
      for (const entry of ofJob(jobId)) {
        if (current.has(entry.taskId)) entry.reported = false;
        else entries.delete(entry.taskId);
      }
    },
    remove: (taskId) => void entries.delete(taskId),
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
    clear: () => entries.clear(),
  };
}
