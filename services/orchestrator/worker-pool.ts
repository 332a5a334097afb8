import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { PresenceReport } from '#shared/contracts/export-tasks.ts';

/** Workers report every second; a worker that missed three reports is gone. */
const aliveMs = 3_500;

/** The last reports of the workers of one service: which workers are alive, their slots, and their tasks in hand. */
export type WorkerPool = {
  heard(report: PresenceReport): void;
  /** Slots of live workers that take new tasks; with a renderer version, of those that render with it. */
  liveSlots(rendererVersion?: string): number;
  hasFreeSlot(rendererVersion?: string): boolean;
  holds(taskId: string): boolean;
  /** The renderer version to pin for a new job: our own if a worker has it, else the one with the most slots, else our own. */
  chooseVersion(own: string): string;
};

export function workerPool(clock: Clock): WorkerPool {
  const reports = new Map<string, { report: PresenceReport; heardAt: number }>();

  const live = (): PresenceReport[] => {
    const since = clock.now().getTime() - aliveMs;
    for (const [instance, { heardAt }] of reports) if (heardAt < since) reports.delete(instance);
    return [...reports.values()].map(({ report }) => report);
  };
  const taking = (rendererVersion?: string): PresenceReport[] =>
    live().filter(
      (report) => !report.draining && (rendererVersion === undefined || report.rendererVersion === rendererVersion),
    );
  const liveSlots = (rendererVersion?: string): number =>
    taking(rendererVersion).reduce((sum, { slots }) => sum + slots, 0);

  return {
    heard: (report) => {
      reports.set(report.instance, { report, heardAt: clock.now().getTime() });
    },
    liveSlots,
    hasFreeSlot: (rendererVersion) => taking(rendererVersion).some(({ freeSlots }) => freeSlots > 0),
    holds: (taskId) => live().some(({ tasks }) => tasks.includes(taskId)),
    chooseVersion: (own) => {
      const versions = [...new Set(taking().flatMap(({ rendererVersion }) => rendererVersion ?? []))];
      if (versions.includes(own)) return own;
      const [most] = versions.sort((a, b) => liveSlots(b) - liveSlots(a) || (a < b ? -1 : 1));
      return most ?? own;
    },
  };
}
