import type { Presence } from '#shared/messaging/queue/task-queue.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';

/** Number of own reports (one per second) without a report of another gateway after which that gateway counts as gone. */
const mostMissed = 3;

export type LiveGateways = {
  /** Number of live gateways, including this one. */
  count(): number;
  /** Announces that this gateway stops. */
  stop(): void;
};

/**
 * Counts the gateways of the installation by the reports that each sends every second. Time is measured by our own reports, which come back to us:
 * while the bus is unavailable no reports arrive, and the number stays.
 */
export function liveGateways(presence: Presence, instance: string, clock: Clock): LiveGateways {
  /** Number of our own reports since the last one of each gateway. */
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
