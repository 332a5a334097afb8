import { z } from 'zod';
import {
  bundleFailed,
  chunkFailed,
  chunkRendered,
  chunkTimedOut,
  closingFailed,
  closingRendered,
  exportCancelled,
  exportCompleted,
  exportFailed,
  exportRequested,
  pagesPlanned,
  renderingFinished,
  segmentLost,
} from '#shared/aggregates/export-job/export-job.ts';
import type { HistoryEntry } from '#shared/contracts/http/exports.ts';

/** The events as the public interface shows them: without keys of the object store and the digest of the request. */
const shownEventSchema = z.discriminatedUnion('type', [
  exportRequested.extend({ data: exportRequested.shape.data.omit({ requestDigest: true }) }),
  exportCompleted.extend({ data: exportCompleted.shape.data.omit({ bundleKey: true }) }),
  pagesPlanned,
  chunkRendered,
  chunkFailed,
  chunkTimedOut,
  segmentLost,
  renderingFinished,
  closingRendered,
  closingFailed,
  bundleFailed,
  exportFailed,
  exportCancelled,
]);

export type ShownEvent = z.infer<typeof shownEventSchema>;

/** An event with its place on the job's own clock. */
export type TimedEvent = { atMs: number; revision: number; event: ShownEvent };

/** The events that a timeline can be made of. A server newer than this command may know more of them: those are left out. Pure. */
export function timedEvents(history: readonly HistoryEntry[], requestedAt: string): TimedEvent[] {
  const zeroMs = Date.parse(requestedAt);
  return history.flatMap(({ type, version, data, time, revision }) => {
    const parsed = shownEventSchema.safeParse({ type, version, data });
    return parsed.success ? [{ atMs: Date.parse(time) - zeroMs, revision, event: parsed.data }] : [];
  });
}
