import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { PresenceReport } from '#shared/contracts/export-tasks.ts';

/** Workers report every second; a worker that missed three reports is gone. */
const aliveMs = 3_500;

/**
 * The last reports of the workers of one service: the live workers, their slots, and their tasks in flight. Queries take the same time for any number
 * of workers.
 */
export type WorkerPool = {
  heard(report: PresenceReport): void;
  /** Slots of live workers that take new tasks; with a renderer version, of those that render with it. */
  liveSlots(rendererVersion?: string): number;
  hasFreeSlot(rendererVersion?: string): boolean;
  holds(taskId: string): boolean;
  /** The live workers, by name, each with the time since which it has had each of its tasks. */
  workers(): LiveWorker[];
  /** The renderer version to pin for a new job: our own if a worker has it, else the one with the most slots, else our own. */
  chooseVersion(own: string): string;
};

/** `since`: the time of the first report that had a task, for workers of a version that does not say how long they have had it. */
type Heard = { report: PresenceReport; heardAt: number; since: ReadonlyMap<string, number> };

export type LiveWorker = { report: PresenceReport; tasks: { taskId: string; since: Date }[] };

export function workerPool(clock: Clock): WorkerPool {
  /** Ordered by the time of the last report, the oldest first. */
  const heard = new Map<string, Heard>();
  /** Slots of live workers that take tasks, by renderer version; `any` has the sum over all versions. */
  const slots = new Map<string, { all: number; free: number }>();
  /** Number of workers that hold a task: two while it moves from one to another. */
  const held = new Map<string, number>();
  const any = '';

  function count(report: PresenceReport, sign: 1 | -1): void {
    for (const taskId of report.tasks) add(held, taskId, sign);
    if (report.draining) return;
    for (const version of new Set([any, report.rendererVersion ?? any])) {
      const { all, free } = slots.get(version) ?? { all: 0, free: 0 };
      const sum = { all: all + sign * report.slots, free: free + sign * report.freeSlots };
      if (sum.all === 0) slots.delete(version);
      else slots.set(version, sum);
    }
  }
  function forget(instance: string): void {
    const known = heard.get(instance);
    if (known === undefined) return;
    heard.delete(instance);
    count(known.report, -1);
  }
  /** Removes the workers that missed their reports. */
  function live(): void {
    const now = clock.now().getTime();
    for (const [instance, { heardAt }] of heard) {
      // A report from the future shows that the clock was set back; live workers report again.
      if (heardAt >= now - aliveMs && heardAt <= now) return;
      forget(instance);
    }
  }
  const of = (version: string) => {
    live();
    return slots.get(version) ?? { all: 0, free: 0 };
  };

  return {
    heard: (report) => {
      const before = heard.get(report.instance)?.since;
      forget(report.instance);
      const heardAt = clock.now().getTime();
      const since = report.tasks.map((taskId, at): [string, number] => {
        const heldMs = report.heldMs?.[at];
        return [taskId, heldMs === undefined ? (before?.get(taskId) ?? heardAt) : heardAt - heldMs];
      });
      heard.set(report.instance, { report, heardAt, since: new Map(since) });
      count(report, 1);
    },
    liveSlots: (rendererVersion = any) => of(rendererVersion).all,
    hasFreeSlot: (rendererVersion = any) => of(rendererVersion).free > 0,
    holds: (taskId) => {
      live();
      return held.has(taskId);
    },
    workers: () => {
      live();
      return [...heard.values()]
        .map(({ report, since }) => ({
          report,
          tasks: [...since].map(([taskId, time]) => ({ taskId, since: new Date(time) })),
        }))
        .toSorted((one, other) => (one.report.instance < other.report.instance ? -1 : 1));
    },
    chooseVersion: (own) => {
      if (of(own).all > 0) return own;
      const versions = [...slots].filter(([version]) => version !== any);
      const [most] = versions.sort(([a, of], [b, other]) => other.all - of.all || (a < b ? -1 : 1));
      return most?.[0] ?? own;
    },
  };
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const sum = (counts.get(key) ?? 0) + by;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}

/** Credits for a group of workers: enough that no worker waits for a task, and few enough that no task waits in the queue for long. */
export function creditsFor(liveSlots: number): number {
  return Math.max(2, Math.floor(1.75 * liveSlots));
}
