import type { HistoryEntry } from '#shared/contracts/http/export-history.ts';

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
  busyMs: number;
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
