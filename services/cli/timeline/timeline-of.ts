import type { HistoryEntry } from '#shared/contracts/http/export-history.ts';
import { lanesOf } from './lanes-of.ts';
import { phasesOf } from './phases-of.ts';
import { type ShownEvent, timedEvents } from './shown-event.ts';
import type { Timeline } from './timeline.ts';
import { totalsOf } from './totals-of.ts';
import { troublesOf } from './troubles-of.ts';

/** A history that no timeline can be made of; the message says why. */
export class UnreadableHistory extends Error {
  override name = 'UnreadableHistory';
}

/**
 * What happened when, by whom, in a job's history. `now` is until when a job that has not ended is drawn. Pure. Throws `UnreadableHistory`
 * when the history does not begin with the job's request.
 */
export function timelineOf(history: readonly HistoryEntry[], now: Date): Timeline {
  const [first] = history;
  const requestedAt = first?.time ?? '';
  const events = timedEvents(history, requestedAt);
  const request = events[0]?.event;
  if (first === undefined || request?.type !== 'ExportRequested')
    throw new UnreadableHistory('The history does not begin with a request that this command can read. Try --list.');
  const end = endOf(events.map(({ event }) => event));
  const lastMs = events.at(-1)?.atMs ?? 0;
  // Clocks differ: now may seem to be before the last event.
  const durationMs = end.outcome === 'running' ? Math.max(lastMs, now.getTime() - Date.parse(requestedAt)) : lastMs;
  const phases = phasesOf(events, durationMs);
  const lanes = lanesOf(events, phases);
  const plan = events.map(({ event }) => event).find((event) => event.type === 'PagesPlanned');
  const { jobId, domain, label, contentVersion, replayOf } = request.data;
  return {
    jobId,
    domain,
    contentVersion,
    ...(label === undefined ? {} : { label }),
    ...(plan === undefined ? {} : { rendererVersion: plan.data.rendererVersion }),
    ...(replayOf === undefined ? {} : { replayOf }),
    requestedBy: `${first.actor.kind} ${first.actor.id}`,
    requestedAt,
    ...end,
    durationMs,
    phases,
    lanes,
    troubles: troublesOf(events),
    totals: totalsOf(events, lanes),
    events: history,
  };
}

function endOf(events: readonly ShownEvent[]): Pick<Timeline, 'outcome' | 'error' | 'bundle'> {
  for (const event of events) {
    if (event.type === 'ExportCompleted') {
      const { sizeBytes, sha256, digestMatch } = event.data;
      return {
        outcome: 'completed',
        bundle: { sizeBytes, sha256, ...(digestMatch === undefined ? {} : { digestMatch }) },
      };
    }
    if (event.type === 'ExportFailed') return { outcome: 'failed', error: event.data.error };
    if (event.type === 'ExportCancelled')
      return { outcome: 'cancelled', error: `The export was cancelled by ${event.data.cancelledBy}.` };
  }
  return { outcome: 'running' };
}
