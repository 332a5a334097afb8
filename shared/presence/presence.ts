import type { PresenceReport } from '#shared/contracts/presence-report.ts';

/** Who is alive, told every second over a core subject; nothing is kept. */
export type Presence = {
  /** Reports now and every second until stopped. `report` is asked each time. */
  announce(report: () => PresenceReport): { now(): void; stop(): void };
  /** Calls `listener` for every report of a service, until the returned function is called. */
  watch(service: string, listener: (report: PresenceReport) => void): () => void;
};
