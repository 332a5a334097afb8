import type { Actor } from '#shared/contracts/actor.ts';
import type { ExportEvent, ExportEventOf } from '#shared/contracts/export-events.ts';
import type { ExportJobState } from '#shared/contracts/export-job-state.ts';
import { countChunks, hasChunk, withChunk, withoutChunk } from './chunk-bitmap.ts';
import { keepFailedPages } from './failed-pages.ts';
import { bundleUnit, closingUnit } from './job-phase.ts';

/** When an event happened and who caused it, as its commit says. */
export type Happening = { time: string; actor: Actor };

const progressOf = { planned: 1, rendered: 90, closed: 95, completed: 100 };

/** The state after an event. It decides nothing: what an event says is what happened. Pure. Throws when a history does not begin with its request. */
export function evolve(state: ExportJobState | undefined, event: ExportEvent, at: Happening): ExportJobState {
  if (event.type === 'ExportRequested') return requested(event, at);
  if (state === undefined) throw new Error(`The history of an export begins with ExportRequested, not ${event.type}.`);
  const next = applied(state, event, at);
  return { ...next, progress: Math.max(state.progress, next.progress) };
}

function requested({ data }: ExportEventOf<'ExportRequested'>, at: Happening): ExportJobState {
  return {
    ...data,
    requestedBy: at.actor.id,
    phase: 'requested',
    createdAt: at.time,
    chunkCount: 0,
    pageTotal: 0,
    pageCount: 0,
    doneChunks: '',
    failedChunks: '',
    timedOutAttempts: {},
    failedPages: [],
    failedPageCount: 0,
    progress: 0,
  };
}

function applied(
  state: ExportJobState,
  event: Exclude<ExportEvent, ExportEventOf<'ExportRequested'>>,
  at: Happening,
): ExportJobState {
  switch (event.type) {
    case 'PagesPlanned':
      return { ...state, ...event.data, phase: 'rendering', progress: progressOf.planned };
    case 'ChunkRendered':
      return chunkRendered(state, event.data.chunk, event.data.pageCount);
    case 'ChunkFailed':
      return event.data.cause === 'renderer'
        ? attemptLost(state, String(event.data.chunk), event.data.attempt)
        : chunkFailed(state, event.data);
    case 'ChunkTimedOut':
      return attemptLost(state, String(event.data.chunk), event.data.attempt);
    case 'SegmentLost':
      return segmentLost(state, event.data.chunk, event.data.pageCount ?? 0);
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
      const { bundleKey, sizeBytes, sha256, manifestSha256, digestMatch } = event.data;
      return {
        ...withoutAttempts(state, bundleUnit),
        phase: 'completed',
        completedAt: at.time,
        bundle: { key: bundleKey, sizeBytes, sha256 },
        manifestSha256,
        ...(digestMatch === undefined ? {} : { digestMatch }),
        progress: progressOf.completed,
      };
    }
    case 'ExportFailed':
      return { ...state, phase: 'failed', completedAt: at.time, error: event.data.error };
    case 'ExportCancelled':
      return {
        ...state,
        phase: 'cancelled',
        completedAt: at.time,
        error: `The export was cancelled by ${event.data.cancelledBy}.`,
      };
  }
}

function chunkRendered(state: ExportJobState, chunk: number, pageCount: number): ExportJobState {
  if (hasChunk(state.doneChunks, chunk)) return state;
  return withRenderingProgress({
    ...withoutAttempts(state, String(chunk)),
    doneChunks: withChunk(state.doneChunks, chunk, state.chunkCount),
    pageCount: Math.min(state.pageTotal, state.pageCount + pageCount),
  });
}

function chunkFailed(state: ExportJobState, failed: ExportEventOf<'ChunkFailed'>['data']): ExportJobState {
  if (hasChunk(state.failedChunks, failed.chunk)) return state;
  return withRenderingProgress({
    ...withoutAttempts(state, String(failed.chunk)),
    failedChunks: withChunk(state.failedChunks, failed.chunk, state.chunkCount),
    failedPages: keepFailedPages(state.failedPages, failed.failedPages),
    failedPageCount: state.failedPageCount + failed.failedPages.length,
  });
}

function segmentLost(state: ExportJobState, chunk: number, pageCount: number): ExportJobState {
  const lost = { ...state, lostSegments: (state.lostSegments ?? 0) + 1 };
  if (chunk < 0) return { ...lost, phase: 'closing' };
  return {
    ...lost,
    phase: 'rendering',
    doneChunks: withoutChunk(state.doneChunks, chunk),
    pageCount: Math.max(0, state.pageCount - pageCount),
  };
}

/** The attempt counts once, however often it is reported. */
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
