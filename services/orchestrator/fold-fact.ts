import type { ExportEvent } from '#shared/contracts/export-events.ts';
import type { Fact, FactOf } from '#shared/contracts/export-facts.ts';
import type { ExportJobState } from '#shared/contracts/export-job-state.ts';
import { hasChunk } from './chunk-bitmap.ts';
import type { Knowledge } from './export-command.ts';
import { bundleFailed, chunkLost, closingFailed, isOpen } from './decide-failure.ts';

/** What a worker's report means for the job. Nothing when it is known already, comes too late, or is about an attempt that was given up. Pure. */
export function foldFact(state: ExportJobState, fact: Fact, known: Knowledge): ExportEvent[] {
  const version = 1;
  const renderer = fact.source;
  switch (fact.type) {
    // A success counts from any attempt.
    case 'ChunkRendered':
      return isOpen(state, fact.data.chunk) ? [{ type: fact.type, version, data: { ...fact.data, renderer } }] : [];
    case 'ChunkFailed': {
      const event: ExportEvent = { type: fact.type, version, data: { ...fact.data, renderer } };
      if (fact.data.cause === 'renderer') return chunkLost(state, event, fact.data.reason, known);
      return isOpen(state, fact.data.chunk) ? [event] : [];
    }
    case 'ClosingRendered':
      return state.phase === 'closing' ? [{ type: fact.type, version, data: { ...fact.data, renderer } }] : [];
    case 'ClosingFailed':
      return closingFailed(state, fact.data.attempt, fact.data.reason);
    case 'SegmentsLost':
      return segmentsLost(state, fact, known);
    case 'BundleJoined':
      return bundleJoined(state, fact, known);
    case 'BundleFailed':
      return bundleFailed(state, fact.data.attempt, fact.data.reason);
    case 'CancelRequested':
      return [{ type: 'ExportCancelled', version, data: { cancelledBy: fact.data.actor.id } }];
  }
}

/** Only what the state still believes to be there can be lost. */
function segmentsLost(state: ExportJobState, { data }: FactOf<'SegmentsLost'>, known: Knowledge): ExportEvent[] {
  const isThere = (chunk: number): boolean =>
    chunk < 0 ? state.phase === 'joining' : hasChunk(state.doneChunks, chunk);
  const chunks = data.chunks.filter(isThere);
  // The closing segment is rendered after the chunks in any case.
  const lost = chunks.some((chunk) => chunk >= 0) ? chunks.filter((chunk) => chunk >= 0) : chunks;
  return [...new Set(lost)].map((chunk) => ({
    type: 'SegmentLost',
    version: 1,
    data: { chunk, reason: data.reason, ...(chunk < 0 ? {} : { pageCount: known.pagesOf?.(chunk).length ?? 0 }) },
  }));
}

/** A bundle has been checked against all its segments, so it counts also when somebody else has reported one of them lost meanwhile. */
function bundleJoined(state: ExportJobState, { data }: FactOf<'BundleJoined'>, known: Knowledge): ExportEvent[] {
  const { manifestSha256 } = state;
  if (manifestSha256 === undefined) return [];
  const { attempt: _, ...bundle } = data;
  const digestMatch = state.replayOf === undefined ? undefined : matchOf(state, data.sha256, known.original);
  return [
    {
      type: 'ExportCompleted',
      version: 1,
      data: { ...bundle, manifestSha256, ...(digestMatch === undefined ? {} : { digestMatch }) },
    },
  ];
}

/** Undefined when the original has no bundle to compare with. */
function matchOf(state: ExportJobState, sha256: string, original: Knowledge['original']) {
  if (original?.sha256 === undefined) return undefined;
  if (original.sha256 === sha256) return 'same';
  return original.rendererVersion === state.rendererVersion ? 'different' : 'renderer-changed';
}
