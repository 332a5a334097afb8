import type { HistoryEntry } from '#shared/interfaces/http/exports.ts';

/** A stretch of the job's time; milliseconds since its request. */
export type Span = { startMs: number; endMs: number };

/** Phase of the job: `queued` until its plan, `joining` while the bundle is joined. After a lost segment the job returns to an earlier phase. */
export type Phase = Span & { name: 'queued' | 'rendering' | 'closing' | 'joining' };

/** One piece of finished work. Its end is its commit, at most one commit interval late; its start is the end minus the reported duration. */
export type Bar = Span & {
  work: 'chunk' | 'closing' | 'bundle';
  /** Number of the chunk; absent for other work, and for several chunks. */
  chunk?: number;
  /** Number of chunks that were reused together; absent for a single one. */
  together?: number;
  pages: number;
  attempt: number;
  /** True if its segment already existed. */
  reused: boolean;
};

/** One worker's share of the job. */
export type Lane = {
  /** `page-renderer-x1`, or `bundler`, whose replicas the history does not tell apart. */
  worker: string;
  /** Chunks that were in flight at the same time are in separate rows, first row first. */
  rows: Bar[][];
  /** Times in which the job was rendering and this worker had none of its chunks in flight. */
  waits: Span[];
  /** Time with at least one chunk in flight. */
  busyMs: number;
  chunks: number;
  pages: number;
};

/** A failure in the job, also if a later attempt succeeded. */
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
  /** Time at which the same work succeeded. */
  madeGoodMs?: number;
};

export type Totals = {
  /** Number of pages, which is unknown before the plan. */
  pageTotal?: number;
  chunkTotal?: number;
  pages: number;
  chunks: number;
  reused: number;
  /** Attempts at chunks, closing segment and bundle together; `repeated` counts all but the first attempt at each. */
  attempts: number;
  repeated: number;
  renderers: number;
  waitMs: number;
};

/** A job over time, from which its timeline is drawn as text and as HTML. */
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
  /** The error of a failed job, or the actor who cancelled it. */
  error?: string;
  bundle?: { sizeBytes: number; sha256: string; digestMatch?: string };
  /** Time until the job's end, or until now. */
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

/** The parts of `whole` that no span of `covered` covers. Pure. */
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

/** Total length of the spans, which must not overlap. Pure. */
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

/** Round times between 0 and `durationMs`, evenly spaced, at most `most` of them. Pure. */
export function ticksOf(durationMs: number, most: number): number[] {
  const step = steps.find((candidate) => durationMs / candidate < most) ?? Math.ceil(durationMs / most / hour) * hour;
  return Array.from({ length: Math.floor(durationMs / step) + 1 }, (_, index) => index * step);
}
