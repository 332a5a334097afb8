import type { HistoryEntry } from '#shared/contracts/http/exports.ts';

/** A stretch of the job's time; milliseconds since its request. */
export type Span = { startMs: number; endMs: number };

/** What the job as a whole was at: `queued` until its plan, `joining` while the bundle is put together. A lost segment brings an earlier one back. */
export type Phase = Span & { name: 'queued' | 'rendering' | 'closing' | 'joining' };

/** One piece of finished work. The end is when it was committed, at most a commit's interval late; the start is the end less what it took. */
export type Bar = Span & {
  work: 'chunk' | 'closing' | 'bundle';
  /** Only of chunks. */
  chunk?: number;
  pages: number;
  attempt: number;
  /** Its segment was there already. */
  reused: boolean;
};

/** One worker's share of the job. */
export type Lane = {
  /** `page-renderer-x1`, or `bundler`, whose copies the history does not tell apart. */
  worker: string;
  /** Chunks that it had in hand at the same time are in rows of their own, first row first. */
  rows: Bar[][];
  /** While the job rendered and this worker had none of its chunks in hand. */
  waits: Span[];
  /** At least one chunk in hand. */
  busyMs: number;
  chunks: number;
  pages: number;
};

/** Something that went wrong, whether or not it was made good. */
export type Trouble = {
  kind: 'attempt-failed' | 'timed-out' | 'pages-failed' | 'segment-lost' | 'closing-failed' | 'bundle-failed';
  atMs: number;
  /** `chunk 7`, `closing segment`, `bundle`. */
  what: string;
  attempt?: number;
  worker?: string;
  reason: string;
  /** Paths of the pages that cannot be rendered, at most 64. */
  pages: string[];
  /** When the same work was done after all. */
  madeGoodMs?: number;
};

export type Totals = {
  /** Unknown before the plan. */
  pageTotal?: number;
  chunkTotal?: number;
  pages: number;
  chunks: number;
  reused: number;
  /** Of chunks, closing segment and bundle together; `repeated` counts those that were not the first at their work. */
  attempts: number;
  repeated: number;
  renderers: number;
  waitMs: number;
};

/** All that a picture of a job needs. */
export type Timeline = {
  jobId: string;
  domain: string;
  label?: string;
  contentVersion: string;
  rendererVersion?: string;
  replayOf?: string;
  requestedBy: string;
  /** Time of the request; all milliseconds count from here. */
  requestedAt: string;
  /** `running` until the job has ended. */
  outcome: 'running' | 'completed' | 'failed' | 'cancelled';
  /** Why it failed, or who cancelled it. */
  error?: string;
  bundle?: { sizeBytes: number; sha256: string; digestMatch?: string };
  /** Until its end, or until now. */
  durationMs: number;
  phases: Phase[];
  lanes: Lane[];
  troubles: Trouble[];
  totals: Totals;
  events: readonly HistoryEntry[];
};

/** The time that at least one of the spans covers, in order, without overlaps. Pure. */
export function union(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const { startMs, endMs } of spans.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = merged.at(-1);
    if (last !== undefined && startMs <= last.endMs) last.endMs = Math.max(last.endMs, endMs);
    else merged.push({ startMs, endMs });
  }
  return merged;
}

/** What is left of `whole` where no span of `covered` is. Pure. */
export function gaps(whole: readonly Span[], covered: readonly Span[]): Span[] {
  return union(whole).flatMap(({ startMs, endMs }) => {
    const left: Span[] = [];
    let from = startMs;
    for (const span of union(covered)) {
      if (span.endMs <= from || span.startMs >= endMs) continue;
      if (span.startMs > from) left.push({ startMs: from, endMs: span.startMs });
      from = Math.max(from, span.endMs);
    }
    return from < endMs ? [...left, { startMs: from, endMs }] : left;
  });
}

/** How long the spans are together; they must not overlap. Pure. */
export const lengthMs = (spans: readonly Span[]): number =>
  spans.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * second),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minute),
  hour,
];

/** Round moments between 0 and `durationMs`, `most` at the most, evenly apart. Pure. */
export function ticksOf(durationMs: number, most: number): number[] {
  const step = steps.find((candidate) => durationMs / candidate < most) ?? Math.ceil(durationMs / most / hour) * hour;
  return Array.from({ length: Math.floor(durationMs / step) + 1 }, (_, index) => index * step);
}
