import type { Presence } from '#shared/messaging/task-queue.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';

/** Who was not heard while we heard ourselves so many times is gone: reports come every second. */
const mostMissed = 3;

export type LiveGateways = {
  /** How many gateways are alive, this one included. */
  count(): number;
  /** Tells the others that this one goes. */
  stop(): void;
};

/**
 * Counts the gateways of the installation by the reports that each sends every second. Time is measured by our own reports, which come back to
 * us: while the bus is away nobody is heard, and the number stays as it was.
 */
export function liveGateways(presence: Presence, instance: string, clock: Clock): LiveGateways {
  /** How many of our own reports came since the last one of each. */
  const missed = new Map([[instance, 0]]);
  let stopping = false;

  const unwatch = presence.watch('gateway', (report) => {
    if (report.instance !== instance) {
      if (report.draining) missed.delete(report.instance);
      else missed.set(report.instance, 0);
      return;
    }
    for (const [other, times] of missed) {
      if (other === instance) continue;
      if (times >= mostMissed) missed.delete(other);
      else missed.set(other, times + 1);
    }
  });
  const announcement = presence.announce(() => ({
    service: 'gateway',
    instance,
    time: clock.now().toISOString(),
    slots: 0,
    freeSlots: 0,
    tasks: [],
    draining: stopping,
  }));

  return {
    count: () => missed.size,
    stop() {
      stopping = true;
      announcement.now();
      announcement.stop();
      unwatch();
    },
  };
}
