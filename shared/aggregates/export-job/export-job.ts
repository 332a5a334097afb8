import { z } from 'zod';
import { type Aggregate, commitSchema, type EventMetadata, eventSchema } from '#shared/contracts/commit.ts';
import { storedCommit } from '#shared/contracts/upcast.ts';
import { failedPageSchema } from '#shared/contracts/export-facts.ts';
import {
  contentLabel,
  contentVersion,
  domainSlug,
  jobId,
  organizationId,
  organizationPlans,
  rendererVersion,
  sha256Hex,
  timestamp,
} from '#shared/contracts/identifiers.ts';
import { exportOptionsSchema } from '#shared/contracts/stored-objects.ts';
import { countChunks, hasChunk, withChunk, withChunks, withoutChunk } from './chunk-bitmap.ts';
import { keepFailedPages } from './failed-pages.ts';

/** The events of an export job. Each has version 1. The files in `golden/` keep them readable permanently. */
const event = eventSchema({});

const chunk = z.int().min(0);
const attempt = z.int().min(1);
const reason = z.string().max(500);
const renderer = z.string();
const digestMatch = z.enum(['same', 'different', 'renderer-changed']);

/** The request. The state keeps all its fields. */
const request = {
  jobId,
  organization: organizationId,
  organizationPlan: z.enum(organizationPlans),
  domain: domainSlug,
  contentVersion,
  /** The label by which the request chose its content: its field `version`. */
  label: contentLabel.optional(),
  options: exportOptionsSchema,
  /** SHA-256 of the canonical request. It distinguishes a repeated request from another one under the same idempotency key. */
  requestDigest: sha256Hex,
  replayOf: jobId.optional(),
};

const exportRequested = event('ExportRequested', request);
const exportCompleted = event('ExportCompleted', {
  bundleKey: z.string(),
  sizeBytes: z.int().min(0),
  sha256: sha256Hex,
  manifestSha256: sha256Hex,
  /** SHA-256 of the stored object that lists the pieces of the bundle. */
  piecesSha256: sha256Hex.optional(),
  digestMatch: digestMatch.optional(),
  /** True if the bundle of an earlier job with the same plan was verified and taken. */
  reusedBundle: z.literal(true).optional(),
});

const plan = {
  planHash: sha256Hex,
  rendererVersion,
  chunkCount: z.int().min(1),
  pageTotal: z.int().min(0),
};

const otherEvents = [
  event('PagesPlanned', plan),
  /** The plan's renderer version has no renderers left, so all pages are rendered again by another version. */
  event('PagesReplanned', { ...plan, replacedVersion: rendererVersion }),
  event('ChunkRendered', {
    chunk,
    pageCount: z.int().min(0),
    attempt,
    renderer,
    /** True if the segment existed already, so that nothing was rendered. */
    reused: z.boolean(),
    durationMs: z.number().min(0),
  }),
  /**
   * Chunks of the plan whose segments an earlier export stored and verified. `chunks`: one bit per chunk, as in `doneChunks`. The event stands for
   * one `ChunkRendered` per chunk.
   */
  event('ChunksReused', { chunks: z.base64(), pageCount: z.int().min(0) }),
  event('ChunkFailed', {
    chunk,
    attempt,
    renderer,
    /** `pages`: these pages cannot be rendered, which is final. `renderer`: the attempt failed as a whole and may be repeated. */
    cause: z.enum(['pages', 'renderer']),
    reason,
    failedPages: z.array(failedPageSchema).max(64),
  }),
  /** The chunk killed its renderer or was lost: no presence report listed it and no fact arrived. */
  event('ChunkTimedOut', { chunk, attempt }),
  /**
   * A stored segment is missing or damaged, so its chunk is rendered again. `chunk` −1 is the closing segment. The count of exported pages
   * decreases by `pageCount`.
   */
  event('SegmentLost', { chunk: z.int().min(-1), reason, pageCount: z.int().min(0).optional() }),
  event('RenderingFinished', { pageCount: z.int().min(0) }),
  event('ClosingRendered', { attempt, renderer, reused: z.boolean(), manifestSha256: sha256Hex }),
  /** An attempt at the closing segment failed or was lost; it may be repeated. */
  event('ClosingFailed', { attempt, reason }),
  /** An attempt at joining the bundle failed or was lost; it may be repeated. */
  event('BundleFailed', { attempt, reason }),
  event('ExportFailed', { error: z.string(), failedPageCount: z.int().min(0) }),
  event('ExportCancelled', { cancelledBy: z.string() }),
] as const;

export const exportEventSchema = z.discriminatedUnion('type', [exportRequested, exportCompleted, ...otherEvents]);

/** The events in the public interface: without keys of the object store and the digest of the request. */
export const shownExportEventSchema = z.discriminatedUnion('type', [
  exportRequested.extend({ data: exportRequested.shape.data.omit({ requestDigest: true }) }),
  exportCompleted.extend({ data: exportCompleted.shape.data.omit({ bundleKey: true, piecesSha256: true }) }),
  ...otherEvents,
]);

export type ExportEvent = z.infer<typeof exportEventSchema>;
export type ExportEventOf<T extends ExportEvent['type']> = Extract<ExportEvent, { type: T }>;

/**
 * The folded state of an export job, carried by each commit of its log. It stays below 4 KB for every size of the site: it has bitmaps and counters
 * instead of lists, and at most 50 failed pages.
 */
export const exportJobStateSchema = z.object({
  ...request,
  label: z.string().optional(),
  requestedBy: z.string(),
  /** requested → rendering → closing → joining → completed; failed and cancelled from any of the first four. */
  phase: z.enum(['requested', 'rendering', 'closing', 'joining', 'completed', 'failed', 'cancelled']),
  createdAt: timestamp,
  completedAt: timestamp.optional(),
  planHash: sha256Hex.optional(),
  rendererVersion: rendererVersion.optional(),
  chunkCount: z.int().min(0),
  pageTotal: z.int().min(0),
  pageCount: z.int().min(0),
  /** The chunks whose segments exist: one bit per chunk, least significant first, base64. */
  doneChunks: z.string(),
  /** The chunks that ended without a segment, because some of their pages cannot be rendered; in the same form. */
  failedChunks: z.string(),
  /**
   * Number of attempts that failed as a whole, killed a renderer or were lost, by chunk, and under `closing` and `bundle`. Only unfinished
   * work with failed attempts is listed.
   */
  timedOutAttempts: z.record(z.string(), z.int()),
  /** Number of lost segments. It is part of later task ids, so that the same attempt is a new task. */
  lostSegments: z.int().min(1).optional(),
  /** Number of replans. It is part of later task ids, because the chunks of the new plan have the same numbers as those of the old one. */
  replans: z.int().min(1).optional(),
  failedPages: z.array(failedPageSchema).max(50),
  failedPageCount: z.int().min(0),
  /** Percentage that never decreases, not even when a segment is lost. */
  progress: z.number().min(0).max(100),
  manifestSha256: sha256Hex.optional(),
  bundle: z
    .object({ key: z.string(), sizeBytes: z.int(), sha256: sha256Hex, piecesSha256: sha256Hex.optional() })
    .optional(),
  digestMatch: digestMatch.optional(),
  reusedBundle: z.literal(true).optional(),
  error: z.string().optional(),
});

export type ExportJobState = z.infer<typeof exportJobStateSchema>;

/** A commit in the log of one export job (`exports.<org>.<job>.log`). */
export const exportCommitSchema = commitSchema(exportEventSchema, exportJobStateSchema);

export type ExportCommit = z.infer<typeof exportCommitSchema>;

export const exportJobAggregate: Aggregate<ExportEvent, ExportJobState> = {
  commitIdPrefix: 'ec',
  storedCommit: storedCommit(exportCommitSchema, {}),
  evolve,
};

const progressOf = { planned: 1, rendered: 90, closed: 95, completed: 100 };

/** Throws when a history does not begin with its request. */
function evolve(state: ExportJobState | undefined, event: ExportEvent, metadata: EventMetadata): ExportJobState {
  if (event.type === 'ExportRequested') return requested(event, metadata);
  if (state === undefined) throw new Error(`The history of an export begins with ExportRequested, not ${event.type}.`);
  const next = applied(state, event, metadata);
  return { ...next, progress: Math.max(state.progress, next.progress) };
}

function requested({ data }: ExportEventOf<'ExportRequested'>, metadata: EventMetadata): ExportJobState {
  return {
    ...data,
    requestedBy: metadata.actor.id,
    phase: 'requested',
    createdAt: metadata.time,
    chunkCount: 0,
    pageTotal: 0,
    ...nothingRendered(),
    progress: 0,
  };
}

/** Fields about pages before the first one is rendered. */
const nothingRendered = () => ({
  pageCount: 0,
  doneChunks: '',
  failedChunks: '',
  timedOutAttempts: {},
  failedPages: [],
  failedPageCount: 0,
});

function applied(
  state: ExportJobState,
  event: Exclude<ExportEvent, ExportEventOf<'ExportRequested'>>,
  metadata: EventMetadata,
): ExportJobState {
  switch (event.type) {
    case 'PagesPlanned':
      return { ...state, ...event.data, phase: 'rendering', progress: progressOf.planned };
    case 'PagesReplanned':
      return afterReplan(state, event.data);
    case 'ChunkRendered':
      return afterChunkRendered(state, event.data.chunk, event.data.pageCount);
    case 'ChunksReused':
      return afterChunksReused(state, event.data);
    case 'ChunkFailed':
      return event.data.cause === 'renderer'
        ? attemptLost(state, String(event.data.chunk), event.data.attempt)
        : afterChunkFailed(state, event.data);
    case 'ChunkTimedOut':
      return attemptLost(state, String(event.data.chunk), event.data.attempt);
    case 'SegmentLost':
      return afterSegmentLost(state, event.data.chunk, event.data.pageCount ?? 0);
    case 'RenderingFinished':
      return { ...state, phase: 'closing', progress: progressOf.rendered };
    case 'ClosingRendered':
      return {
        ...withoutAttempts(state, closingUnit),
        phase: 'joining',
        manifestSha256: event.data.manifestSha256,
        progress: progressOf.closed,
      };
    case 'ClosingFailed':
      return attemptLost(state, closingUnit, event.data.attempt);
    case 'BundleFailed':
      return attemptLost(state, bundleUnit, event.data.attempt);
    case 'ExportCompleted': {
      const { bundleKey, sizeBytes, sha256, manifestSha256, piecesSha256, digestMatch, reusedBundle } = event.data;
      return {
        ...withoutAttempts(state, bundleUnit),
        phase: 'completed',
        completedAt: metadata.time,
        bundle: { key: bundleKey, sizeBytes, sha256, ...(piecesSha256 && { piecesSha256 }) },
        manifestSha256,
        ...(digestMatch === undefined ? {} : { digestMatch }),
        ...(reusedBundle === undefined ? {} : { reusedBundle }),
        progress: progressOf.completed,
      };
    }
    case 'ExportFailed':
      return { ...state, phase: 'failed', completedAt: metadata.time, error: event.data.error };
    case 'ExportCancelled':
      return {
        ...state,
        phase: 'cancelled',
        completedAt: metadata.time,
        error: `The export was cancelled by ${event.data.cancelledBy}.`,
      };
  }
}

/** The state as right after the first plan: pages that were rendered or failed do not count for the new plan. */
function afterReplan(
  { manifestSha256: _, ...state }: ExportJobState,
  { replacedVersion: __, ...planned }: ExportEventOf<'PagesReplanned'>['data'],
): ExportJobState {
  return {
    ...state,
    ...planned,
    phase: 'rendering',
    ...nothingRendered(),
    replans: (state.replans ?? 0) + 1,
    progress: progressOf.planned,
  };
}

function afterChunkRendered(state: ExportJobState, chunk: number, pageCount: number): ExportJobState {
  if (hasChunk(state.doneChunks, chunk)) return state;
  return withRenderingProgress({
    ...withoutAttempts(state, String(chunk)),
    doneChunks: withChunk(state.doneChunks, chunk, state.chunkCount),
    pageCount: Math.min(state.pageTotal, state.pageCount + pageCount),
  });
}

function afterChunksReused(
  state: ExportJobState,
  { chunks, pageCount }: ExportEventOf<'ChunksReused'>['data'],
): ExportJobState {
  return withRenderingProgress({
    ...state,
    doneChunks: withChunks(state.doneChunks, chunks, state.chunkCount),
    pageCount: Math.min(state.pageTotal, state.pageCount + pageCount),
  });
}

function afterChunkFailed(state: ExportJobState, failed: ExportEventOf<'ChunkFailed'>['data']): ExportJobState {
  if (hasChunk(state.failedChunks, failed.chunk)) return state;
  return withRenderingProgress({
    ...withoutAttempts(state, String(failed.chunk)),
    failedChunks: withChunk(state.failedChunks, failed.chunk, state.chunkCount),
    failedPages: keepFailedPages(state.failedPages, failed.failedPages),
    failedPageCount: state.failedPageCount + failed.failedPages.length,
  });
}

function afterSegmentLost(state: ExportJobState, chunk: number, pageCount: number): ExportJobState {
  const lost = { ...state, lostSegments: (state.lostSegments ?? 0) + 1 };
  if (chunk < 0) return { ...lost, phase: 'closing' };
  return {
    ...lost,
    phase: 'rendering',
    doneChunks: withoutChunk(state.doneChunks, chunk),
    pageCount: Math.max(0, state.pageCount - pageCount),
  };
}

/** Counts a failed attempt once, however often it is reported. */
function attemptLost(state: ExportJobState, unit: string, attempt: number): ExportJobState {
  const attempts = Math.max(state.timedOutAttempts[unit] ?? 0, attempt);
  return { ...state, timedOutAttempts: { ...state.timedOutAttempts, [unit]: attempts } };
}

function withoutAttempts(state: ExportJobState, unit: string): ExportJobState {
  const { [unit]: _, ...timedOutAttempts } = state.timedOutAttempts;
  return { ...state, timedOutAttempts };
}

function withRenderingProgress(state: ExportJobState): ExportJobState {
  const ended = countChunks(state.doneChunks) + countChunks(state.failedChunks);
  const share = (progressOf.rendered - progressOf.planned) * (ended / state.chunkCount);
  return { ...state, progress: Math.round((progressOf.planned + share) * 10) / 10 };
}

/** True until the job has ended. */
export function isActive(phase: ExportJobState['phase']): boolean {
  return phase !== 'completed' && phase !== 'failed' && phase !== 'cancelled';
}

/** True while only renderers of the plan's version can continue the job. */
export function waitsForRenderers({ phase }: Pick<ExportJobState, 'phase'>): boolean {
  return phase === 'rendering' || phase === 'closing';
}

/** Keys of `timedOutAttempts` for work other than chunks. */
export const closingUnit = 'closing';
export const bundleUnit = 'bundle';

/** One piece of work that is dispatched as one task: a chunk by its number, the closing segment, or the bundle. */
export type WorkUnit = number | typeof closingUnit | typeof bundleUnit;

/** The current attempt at a piece of work: 1, plus one for each attempt that failed as a whole or was lost. */
export function attemptOf(state: ExportJobState, unit: WorkUnit): number {
  return (state.timedOutAttempts[String(unit)] ?? 0) + 1;
}

/** Number of attempts after which a chunk's pages are rendered one by one, to find the one that kills renderers. */
export const attemptsBeforePagesAlone = 2;
/** Number of attempts after which the chunk's pages have failed permanently. */
export const maxChunkAttempts = 4;
/** Limit of attempts at the closing segment, and at the bundle. */
export const maxClosingAttempts = 3;
