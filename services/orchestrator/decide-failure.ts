import type { ExportEvent, ExportEventOf } from '#shared/contracts/export-events.ts';
import type { ExportJobState } from '#shared/contracts/export-job-state.ts';
import { hasChunk } from './chunk-bitmap.ts';
import type { Knowledge } from './export-command.ts';
import { attemptOf, bundleUnit, closingUnit, maxChunkAttempts, maxClosingAttempts } from './job-phase.ts';

/** Whether a chunk is still to be rendered. */
export function isOpen(state: ExportJobState, chunk: number): boolean {
  const isPlanned = state.phase === 'rendering' && chunk < state.chunkCount;
  return isPlanned && !hasChunk(state.doneChunks, chunk) && !hasChunk(state.failedChunks, chunk);
}

/**
 * An attempt at a chunk ended without a word on its pages. It is counted once; after the last one its pages have failed, or the job, if
 * the chunk has none.
 */
export function chunkLost(
  state: ExportJobState,
  event: ExportEventOf<'ChunkTimedOut'> | ExportEventOf<'ChunkFailed'>,
  reason: string,
  known: Knowledge,
): ExportEvent[] {
  const { chunk, attempt } = event.data;
  if (!isOpen(state, chunk) || attempt !== attemptOf(state, chunk)) return [];
  if (attempt < maxChunkAttempts) return [event];
  const pages = known.pagesOf?.(chunk) ?? [];
  const final = `${reason} in the last of ${attempt} attempts`;
  if (pages.length === 0) return [event, exportFailed(state, `The site's own files could not be rendered: ${final}.`)];
  const failedPages = pages.map((path) => ({ path, reason: final.slice(0, 300) }));
  const renderer = event.type === 'ChunkFailed' ? event.data.renderer : 'orchestrator';
  return [
    event,
    {
      type: 'ChunkFailed',
      version: 1,
      data: { chunk, attempt, renderer, cause: 'pages', reason: final.slice(0, 500), failedPages },
    },
  ];
}

export function closingFailed(state: ExportJobState, attempt: number, reason: string): ExportEvent[] {
  if (state.phase !== 'closing' || attempt !== attemptOf(state, closingUnit)) return [];
  const event: ExportEvent = { type: 'ClosingFailed', version: 1, data: { attempt, reason } };
  if (attempt < maxClosingAttempts) return [event];
  return [
    event,
    exportFailed(state, `The files that need all pages could not be made in ${attempt} attempts: ${reason}.`),
  ];
}

export function bundleFailed(state: ExportJobState, attempt: number, reason: string): ExportEvent[] {
  if (state.phase !== 'joining' || attempt !== attemptOf(state, bundleUnit)) return [];
  const event: ExportEvent = { type: 'BundleFailed', version: 1, data: { attempt, reason } };
  if (attempt < maxClosingAttempts) return [event];
  return [event, exportFailed(state, `The bundle could not be joined in ${attempt} attempts: ${reason}.`)];
}

export function exportFailed(state: ExportJobState, error: string): ExportEvent {
  const sentence = error.replace(/\.\.$/, '.');
  return { type: 'ExportFailed', version: 1, data: { error: sentence, failedPageCount: state.failedPageCount } };
}
