import { countChunks } from '#shared/aggregates/export-job/chunk-bitmap.ts';
import type { TimedEvent } from './timed-events.ts';
import { type Bar, gaps, type Lane, lengthMs, type Phase, union } from './timeline.ts';

/** Normal delay of a fact's commit: 100 ms for other facts to join it, and the commit itself. */
const commitDelayMs = 250;
/** Minimum length of a wait that is drawn. Start times are derived, so shorter waits may not be real. */
const shortestWaitMs = 100;

/** One lane for each worker in order of its first work, and one for reused chunks; the bundler comes last. Pure. */
export function lanesOf(events: readonly TimedEvent[], phases: readonly Phase[]): Lane[] {
  const rendering = phases.filter(({ name }) => name === 'rendering');
  return [...barsByWorker(events)].map(([worker, bars]) => {
    const rows = rowsOf(bars);
    const chunks = rows.flat().filter(({ work }) => work === 'chunk');
    const waits = gaps(worker === bundler || worker === orchestrator ? [] : rendering, chunks);
    return {
      worker,
      rows,
      waits: waits.filter(({ startMs, endMs }) => endMs - startMs >= shortestWaitMs),
      busyMs: lengthMs(union(rows.flat())),
      chunks: chunks.reduce((sum, { together = 1 }) => sum + together, 0),
      pages: chunks.reduce((sum, { pages }) => sum + pages, 0),
    };
  });
}

const bundler = 'bundler';
/** The orchestrator reports chunks that existed before the job. */
const orchestrator = 'orchestrator';

function barsByWorker(events: readonly TimedEvent[]): Map<string, LooseBar[]> {
  const byWorker = new Map<string, LooseBar[]>();
  const add = (worker: string, bar: LooseBar) => {
    const bars = byWorker.get(worker);
    if (bars === undefined) byWorker.set(worker, [bar]);
    else bars.push(bar);
  };
  /** Earliest start of work on the closing segment or bundle: the last step of the job, or the last failed attempt. */
  let openSinceMs = 0;
  let plannedMs = 0;
  /** Time of the last failure of a chunk, by its number. The next attempt cannot have begun before it. */
  const againSinceMs = new Map<number, number>();
  let previousCommit = { revision: 0, atMs: 0 };
  let bundleAttempt = 1;
  let bundle: LooseBar | undefined;
  for (const [index, { event, atMs, revision }] of events.entries()) {
    const before = events[index - 1];
    if (before !== undefined && before.revision !== revision) previousCommit = before;
    switch (event.type) {
      case 'ChunkRendered': {
        const { chunk, attempt, reused, renderer, pageCount, durationMs } = event.data;
        const startableMs = againSinceMs.get(chunk) ?? plannedMs;
        const earliestEndMs = Math.max(previousCommit.atMs, atMs - commitDelayMs, startableMs + durationMs);
        add(renderer, {
          startMs: Math.max(0, atMs - durationMs),
          endMs: atMs,
          earliestEndMs: Math.min(atMs, earliestEndMs),
          work: 'chunk',
          chunk,
          attempt,
          reused,
          pages: pageCount,
        });
        break;
      }
      case 'ChunksReused':
        add(orchestrator, {
          startMs: atMs,
          endMs: atMs,
          earliestEndMs: atMs,
          work: 'chunk',
          together: countChunks(event.data.chunks),
          attempt: 1,
          reused: true,
          pages: event.data.pageCount,
        });
        break;
      case 'ClosingRendered': {
        const { attempt, reused, renderer } = event.data;
        add(renderer, {
          startMs: openSinceMs,
          endMs: atMs,
          earliestEndMs: atMs,
          work: 'closing',
          attempt,
          reused,
          pages: 0,
        });
        openSinceMs = atMs;
        bundleAttempt = 1;
        break;
      }
      case 'BundleFailed':
        bundleAttempt = event.data.attempt + 1;
        openSinceMs = atMs;
        break;
      case 'PagesPlanned':
      case 'PagesReplanned':
        plannedMs = atMs;
        againSinceMs.clear();
        break;
      case 'ChunkFailed':
      case 'ChunkTimedOut':
        againSinceMs.set(event.data.chunk, atMs);
        break;
      case 'SegmentLost':
        againSinceMs.set(event.data.chunk, atMs);
        openSinceMs = atMs;
        break;
      case 'RenderingFinished':
      case 'ClosingFailed':
        openSinceMs = atMs;
        break;
      case 'ExportCompleted':
        bundle = {
          startMs: openSinceMs,
          endMs: atMs,
          earliestEndMs: atMs,
          work: 'bundle',
          attempt: bundleAttempt,
          reused: false,
          pages: 0,
        };
        break;
      case 'ExportRequested':
      case 'ExportFailed':
      case 'ExportCancelled':
        break;
    }
  }
  if (bundle !== undefined) add(bundler, bundle);
  return byWorker;
}

/** Finished work, and the earliest time when it can have ended. */
type LooseBar = Bar & { earliestEndMs: number };

/**
 * Places one worker's work in the smallest possible number of rows, one for each slot. A slot works on one chunk after the other, but chunks that end
 * shortly after each other are committed together. So work may move back in time as far as `earliestEndMs` if that makes room for it in a row. `bars`
 * are in order of their commits. Pure.
 */
function rowsOf(bars: readonly LooseBar[]): Bar[][] {
  // The loop ends: with as many rows as bars, each bar has its own row.
  for (let count = Math.min(1, bars.length); ; count += 1) {
    const rows = placedIn(count, bars);
    if (rows !== undefined) return rows;
  }
}

/** Undefined if a bar fits into no row. */
function placedIn(count: number, bars: readonly LooseBar[]): Bar[][] | undefined {
  // Each row from its last bar to its first: bars are placed from last to first, because a later bar limits the room before it.
  const rows: Bar[][] = Array.from({ length: count }, () => []);
  for (const { earliestEndMs, ...bar } of bars.toReversed()) {
    let best: Bar[] | undefined;
    let endMs = Number.NEGATIVE_INFINITY;
    for (const row of rows) {
      const end = Math.min(bar.endMs, row.at(-1)?.startMs ?? bar.endMs);
      if (end > endMs) [best, endMs] = [row, end];
    }
    if (best === undefined || endMs < earliestEndMs) return undefined;
    best.push({ ...bar, startMs: endMs - (bar.endMs - bar.startMs), endMs });
  }
  return rows.map((row) => row.toReversed()).toSorted((a, b) => (a[0]?.startMs ?? 0) - (b[0]?.startMs ?? 0));
}
