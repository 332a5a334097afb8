import type { z } from 'zod';
import { shownExportEventSchema } from '#shared/aggregates/export-job/export-job.ts';
import type { HistoryEntry } from '#shared/interfaces/http/exports.ts';

export type ShownEvent = z.infer<typeof shownExportEventSchema>;

/** An event with its place on the job's own clock. */
export type TimedEvent = { atMs: number; revision: number; event: ShownEvent };

/** The events that a timeline is made from. Events of a newer server that this command does not know are left out. Pure. */
export function timedEvents(history: readonly HistoryEntry[], requestedAt: string): TimedEvent[] {
  const zeroMs = Date.parse(requestedAt);
  return history.flatMap(({ type, version, data, time, revision }) => {
    const parsed = shownExportEventSchema.safeParse({ type, version, data });
    return parsed.success ? [{ atMs: Date.parse(time) - zeroMs, revision, event: parsed.data }] : [];
  });
}
