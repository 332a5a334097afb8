import { chunksIn } from '#shared/aggregates/export-job/chunk-bitmap.ts';
import type { HistoryEntry } from '#shared/interfaces/http/exports.ts';
import { lanesOf } from './lanes.ts';
import { type ShownEvent, type TimedEvent, timedEvents } from './timed-events.ts';
import { type Lane, lengthMs, type Phase, type Timeline, type Totals, type Trouble } from './timeline.ts';

/** Thrown if no timeline can be made from this history; the message says why. */
class UnreadableHistory extends Error {
  override name = 'UnreadableHistory';
}

/**
 * The events of a job over time, by worker. A job that has not ended is drawn until `now`. Pure. Throws `UnreadableHistory` when the history does not
 * begin with the job's request.
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
  // Clocks differ, so the current time may be before the last event.
  const durationMs = end.outcome === 'running' ? Math.max(lastMs, now.getTime() - Date.parse(requestedAt)) : lastMs;
  const phases = phasesOf(events, durationMs);
  const lanes = lanesOf(events, phases);
  const plan = events.map(({ event }) => event).findLast(isPlan);
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

/** The job's phases in order, without gaps, until `endMs`. Pure. */
function phasesOf(events: readonly TimedEvent[], endMs: number): Phase[] {
  const phases: Phase[] = [];
  let current: Phase = { name: 'queued', startMs: 0, endMs };
  for (const { atMs, event } of events) {
    const next = phaseAfter(event, current.name);
    if (next === current.name) continue;
    phases.push({ ...current, endMs: atMs });
    current = { name: next, startMs: atMs, endMs };
  }
  return [...phases, current];
}

function phaseAfter(event: TimedEvent['event'], phase: Phase['name']): Phase['name'] {
  switch (event.type) {
    case 'PagesPlanned':
    case 'PagesReplanned':
      return 'rendering';
    case 'RenderingFinished':
      return 'closing';
    case 'ClosingRendered':
      return 'joining';
    case 'SegmentLost':
      return event.data.chunk < 0 ? 'closing' : 'rendering';
    case 'ExportRequested':
    case 'ChunkRendered':
    case 'ChunksReused':
    case 'ChunkFailed':
    case 'ChunkTimedOut':
    case 'ClosingFailed':
    case 'BundleFailed':
    case 'ExportCompleted':
    case 'ExportFailed':
    case 'ExportCancelled':
      return phase;
  }
}

const isPlan = (event: ShownEvent) => event.type === 'PagesPlanned' || event.type === 'PagesReplanned';

const closing = 'closing segment';
const bundle = 'bundle';

/** All troubles in order, with the time when the work was done again. Pure. */
function troublesOf(events: readonly TimedEvent[]): Trouble[] {
  const troubles: Trouble[] = [];
  for (const { event, atMs } of events) {
    const result = resultOf(event);
    if (typeof result === 'string') {
      for (const trouble of troubles)
        if (trouble.what === result && trouble.kind !== 'pages-failed') trouble.madeGoodMs ??= atMs;
    } else if (result !== undefined) troubles.push({ pages: [], ...result, atMs });
  }
  return troubles;
}

const chunkName = (chunk: number): string => (chunk < 0 ? closing : `chunk ${chunk}`);

/** The name of the work that an event completes, or the trouble that it reports. */
function resultOf(event: ShownEvent): string | (Omit<Trouble, 'atMs' | 'pages'> & { pages?: string[] }) | undefined {
  switch (event.type) {
    case 'ChunkRendered':
      return chunkName(event.data.chunk);
    case 'ClosingRendered':
      return closing;
    case 'ExportCompleted':
      return bundle;
    case 'ChunkFailed': {
      const { chunk, attempt, renderer, cause, reason, failedPages } = event.data;
      // The orchestrator reports on behalf of a renderer that no longer runs.
      const worker = renderer === 'orchestrator' ? {} : { worker: renderer };
      return {
        kind: cause === 'pages' ? 'pages-failed' : 'attempt-failed',
        what: chunkName(chunk),
        attempt,
        ...worker,
        reason,
        pages: failedPages.map(({ path }) => path),
      };
    }
    case 'ChunkTimedOut':
      return {
        kind: 'timed-out',
        what: chunkName(event.data.chunk),
        attempt: event.data.attempt,
        reason: 'it was lost: no renderer had it in flight or reported it',
      };
    case 'SegmentLost':
      return { kind: 'segment-lost', what: chunkName(event.data.chunk), reason: event.data.reason };
    case 'ClosingFailed':
      return { kind: 'closing-failed', what: closing, attempt: event.data.attempt, reason: event.data.reason };
    case 'BundleFailed':
      return { kind: 'bundle-failed', what: bundle, attempt: event.data.attempt, reason: event.data.reason };
    case 'ExportRequested':
    case 'PagesPlanned':
    case 'PagesReplanned':
    case 'ChunksReused':
    case 'RenderingFinished':
    case 'ExportFailed':
    case 'ExportCancelled':
      return undefined;
  }
}

/** Numbers of the work that is no chunk, beside those of chunks. */
const [closingWork, bundleWork] = [-1, -2];

/** Counts over the whole history. Pure. */
function totalsOf(events: readonly TimedEvent[], lanes: readonly Lane[]): Totals {
  const done = new Map<number, { pages: number; reused: boolean }>();
  const works = new Set<number>();
  /** First attempts at work that was never lost, which are most of them. */
  const firsts = new Set<number>();
  /** Other attempts are keyed by work and by the number of earlier losses, so an attempt that is reported twice counts once. */
  const others = new Set<string>();
  const timesLost = new Map<number, number>();
  const tried = (work: number, attempt: number) => {
    works.add(work);
    const lost = timesLost.get(work) ?? 0;
    if (lost === 0 && attempt === 1) firsts.add(work);
    else others.add(`${work} ${lost} ${attempt}`);
  };
  const together = new Set<number>();
  /** Pages of chunks that were reused together, whose event does not say which chunk has which. */
  let pagesTogether = 0;
  let planned: Pick<Totals, 'pageTotal' | 'chunkTotal'> = {};
  for (const { event } of events) {
    switch (event.type) {
      case 'PagesReplanned':
        // A new plan numbers its chunks from 1 again, so equal numbers are different chunks.
        for (const work of works) timesLost.set(work, (timesLost.get(work) ?? 0) + 1);
        done.clear();
        pagesTogether = 0;
        together.clear();
        planned = { pageTotal: event.data.pageTotal, chunkTotal: event.data.chunkCount };
        break;
      case 'PagesPlanned':
        planned = { pageTotal: event.data.pageTotal, chunkTotal: event.data.chunkCount };
        break;
      case 'ChunkRendered':
        done.set(event.data.chunk, { pages: event.data.pageCount, reused: event.data.reused });
        tried(event.data.chunk, event.data.attempt);
        break;
      case 'ChunksReused':
        for (const chunk of chunksIn(event.data.chunks)) {
          done.set(chunk, { pages: 0, reused: true });
          together.add(chunk);
          tried(chunk, 1);
        }
        pagesTogether += event.data.pageCount;
        break;
      case 'ChunkFailed':
      case 'ChunkTimedOut':
        tried(event.data.chunk, event.data.attempt);
        break;
      case 'ClosingRendered':
      case 'ClosingFailed':
        tried(closingWork, event.data.attempt);
        break;
      case 'BundleFailed':
        tried(bundleWork, event.data.attempt);
        break;
      case 'ExportCompleted':
        // The event does not name its attempt, which follows the last failed one.
        tried(bundleWork, 0);
        break;
      case 'SegmentLost': {
        const work = event.data.chunk < 0 ? closingWork : event.data.chunk;
        timesLost.set(work, (timesLost.get(work) ?? 0) + 1);
        // The closing segment and the bundle depend on the chunk, so they are also repeated.
        if (work !== closingWork) timesLost.set(closingWork, (timesLost.get(closingWork) ?? 0) + 1);
        timesLost.set(bundleWork, (timesLost.get(bundleWork) ?? 0) + 1);
        if (together.delete(event.data.chunk)) pagesTogether -= event.data.pageCount ?? 0;
        done.delete(event.data.chunk);
        break;
      }
      case 'ExportRequested':
      case 'RenderingFinished':
      case 'ExportFailed':
      case 'ExportCancelled':
        break;
    }
  }
  const renderers = lanes.filter(({ chunks }) => chunks > 0);
  const ended = [...done.values()];
  return {
    ...planned,
    pages: ended.reduce((sum, { pages }) => sum + pages, pagesTogether),
    chunks: ended.length,
    reused: ended.filter(({ reused }) => reused).length,
    attempts: firsts.size + others.size,
    repeated: firsts.size + others.size - works.size,
    renderers: renderers.length,
    waitMs: renderers.reduce((sum, { waits }) => sum + lengthMs(waits), 0),
  };
}
