import type { EventMetadata } from '#shared/contracts/commit.ts';
import type { Fact, FactOf } from '#shared/contracts/export-facts.ts';
import { ApiError } from '#shared/http/errors.ts';
import { bitmapOf, countChunks, hasChunk } from './chunk-bitmap.ts';
import {
  attemptOf,
  bundleUnit,
  closingUnit,
  exportJobAggregate,
  type ExportEvent,
  type ExportEventOf,
  type ExportJobState,
  isActive,
  maxChunkAttempts,
  maxClosingAttempts,
  waitsForRenderers,
} from './export-job.ts';
import { failedPagesSentence } from './failed-pages.ts';

/** A plan and its hash. `present`: chunks whose segments are stored already. */
type MadePlan = {
  planHash: string;
  rendererVersion: string;
  chunkCount: number;
  pageTotal: number;
  present?: readonly PresentChunk[];
};
export type PresentChunk = { chunk: number; pageCount: number };

export type ExportCommand =
  | ({ type: 'Plan' } & MadePlan)
  /** Applies only while the job is pinned to `replacedVersion`. */
  | ({ type: 'Replan'; replacedVersion: string } & MadePlan)
  | { type: 'FoldFacts'; facts: readonly Fact[] }
  | { type: 'TimeOutChunk'; chunk: number; attempt: number }
  | { type: 'TimeOutClosing'; attempt: number }
  | { type: 'TimeOutBundle'; attempt: number }
  | { type: 'Fail'; error: string };

/** Information for a decision in addition to the state. */
export type Knowledge = {
  /** Page paths of a chunk; empty for the site's own files. Required if `needsPlan` returns true. */
  pagesOf?: (chunk: number) => readonly string[];
  /** The outcome of the job that this one replays. */
  original?: { sha256: string | undefined; rendererVersion: string | undefined };
};

type Decision = { state: ExportJobState; events: ExportEvent[] };

const lostReason = 'no worker reported it, and none works on it';

/**
 * The events that follow from a command; none when the state already reflects it or the job has ended. The order and repetition of facts do
 * not matter. Pure: `metadata` affects only the states between the events.
 */
export function decide(
  before: ExportJobState,
  command: ExportCommand,
  metadata: EventMetadata,
  known: Knowledge = {},
): ExportEvent[] {
  const happen = (decision: Decision, event: ExportEvent): Decision =>
    isActive(decision.state.phase)
      ? { state: exportJobAggregate.evolve(decision.state, event, metadata), events: [...decision.events, event] }
      : decision;
  const react = (decision: Decision, reaction: (state: ExportJobState) => ExportEvent[]): Decision => {
    const reacted = reaction(decision.state).reduce(happen, decision);
    return whenAllChunksEnded(reacted.state).reduce(happen, reacted);
  };
  const start = { state: before, events: [] };
  if (command.type !== 'FoldFacts') return react(start, (state) => handle(state, command, known)).events;
  return command.facts.reduce<Decision>(
    (decision, fact) => react(decision, (state) => foldFact(state, fact, known)),
    start,
  ).events;
}

/** True if `decide` will need the pages of a chunk. */
export function needsPlan(command: ExportCommand): boolean {
  if (command.type === 'TimeOutChunk') return command.attempt >= maxChunkAttempts;
  if (command.type !== 'FoldFacts') return false;
  return command.facts.some(
    (fact) =>
      fact.type === 'SegmentsLost' ||
      (fact.type === 'ChunkFailed' && fact.data.cause === 'renderer' && fact.data.attempt >= maxChunkAttempts),
  );
}

function handle(
  state: ExportJobState,
  command: Exclude<ExportCommand, { type: 'FoldFacts' }>,
  known: Knowledge,
): ExportEvent[] {
  switch (command.type) {
    case 'Plan': {
      const { type: _, present, ...data } = command;
      return state.phase === 'requested' ? [{ type: 'PagesPlanned', version: 1, data }, ...reused(present)] : [];
    }
    case 'Replan': {
      const { type: _, present, ...data } = command;
      const isPinned = waitsForRenderers(state) && state.rendererVersion === data.replacedVersion;
      return isPinned ? [{ type: 'PagesReplanned', version: 1, data }, ...reused(present)] : [];
    }
    case 'TimeOutChunk': {
      const { chunk, attempt } = command;
      const timedOut: ExportEvent = { type: 'ChunkTimedOut', version: 1, data: { chunk, attempt } };
      return chunkLost(state, timedOut, 'its renderer was lost', known);
    }
    case 'TimeOutClosing':
      return closingFailed(state, command.attempt, lostReason);
    case 'TimeOutBundle':
      return bundleFailed(state, command.attempt, lostReason);
    case 'Fail':
      return [exportFailed(state, command.error)];
  }
}

/** One event for all reused segments. */
function reused(present: readonly PresentChunk[] = []): ExportEvent[] {
  if (present.length === 0) return [];
  const chunks = bitmapOf(present.map(({ chunk }) => chunk));
  const pageCount = present.reduce((sum, found) => sum + found.pageCount, 0);
  return [{ type: 'ChunksReused', version: 1, data: { chunks, pageCount } }];
}

/** A failed page does not stop the others: the job ends only when every other page has been rendered. */
function whenAllChunksEnded(state: ExportJobState): ExportEvent[] {
  if (state.phase !== 'rendering') return [];
  const failedChunks = countChunks(state.failedChunks);
  if (countChunks(state.doneChunks) + failedChunks < state.chunkCount) return [];
  if (failedChunks === 0) {
    return [{ type: 'RenderingFinished', version: 1, data: { pageCount: state.pageCount } }];
  }
  return [exportFailed(state, failedPagesSentence(state.failedPages, state.failedPageCount))];
}

/** True if a chunk still has to be rendered. */
function isOpen(state: ExportJobState, chunk: number): boolean {
  return chunk < state.chunkCount && !hasChunk(state.doneChunks, chunk) && !hasChunk(state.failedChunks, chunk);
}

/**
 * Counts an attempt at a chunk that failed as a whole; repeated reports of it count once. After the last attempt the chunk's pages fail, or the job
 * fails if the chunk has no pages.
 */
function chunkLost(
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

function closingFailed(state: ExportJobState, attempt: number, reason: string): ExportEvent[] {
  if (state.phase !== 'closing' || attempt !== attemptOf(state, closingUnit)) return [];
  const event: ExportEvent = { type: 'ClosingFailed', version: 1, data: { attempt, reason } };
  if (attempt < maxClosingAttempts) return [event];
  return [
    event,
    exportFailed(state, `The files that need all pages could not be made in ${attempt} attempts: ${reason}.`),
  ];
}

function bundleFailed(state: ExportJobState, attempt: number, reason: string): ExportEvent[] {
  if (state.phase !== 'joining' || attempt !== attemptOf(state, bundleUnit)) return [];
  const event: ExportEvent = { type: 'BundleFailed', version: 1, data: { attempt, reason } };
  if (attempt < maxClosingAttempts) return [event];
  return [event, exportFailed(state, `The bundle could not be joined in ${attempt} attempts: ${reason}.`)];
}

function exportFailed(state: ExportJobState, error: string): ExportEvent {
  const sentence = error.replace(/\.\.$/, '.');
  return { type: 'ExportFailed', version: 1, data: { error: sentence, failedPageCount: state.failedPageCount } };
}

/** The events that follow from a fact; none when it is known already, comes too late, or is about an attempt that was given up. Pure. */
function foldFact(state: ExportJobState, fact: Fact, known: Knowledge): ExportEvent[] {
  const version = 1;
  const renderer = fact.source;
  // A worker may report on the chunks of a replaced plan. Workers of older versions do not name the plan.
  if (fact.planHash !== undefined && fact.planHash !== state.planHash) return [];
  switch (fact.type) {
    // A success counts, whichever attempt it is from.
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
    case 'TaskPostponed':
      return [];
    case 'CancelRequested':
      return [{ type: 'ExportCancelled', version, data: { cancelledBy: fact.data.actor.id } }];
  }
}

/**
 * Limit of chunks in one commit: a larger commit would exceed a message of the log, and the job could not continue. Further lost chunks are
 * found after these are rendered again.
 */
const mostChunksAtOnce = 1_000;

/** Only segments that exist in the state can be lost. */
function segmentsLost(state: ExportJobState, { data }: FactOf<'SegmentsLost'>, known: Knowledge): ExportEvent[] {
  const isThere = (chunk: number): boolean =>
    chunk < 0 ? state.phase === 'joining' : hasChunk(state.doneChunks, chunk);
  const chunks = data.chunks.filter(isThere);
  // The closing segment is always rendered after the chunks.
  const lost = chunks.some((chunk) => chunk >= 0) ? chunks.filter((chunk) => chunk >= 0) : chunks;
  return [...new Set(lost)].slice(0, mostChunksAtOnce).map((chunk) => ({
    type: 'SegmentLost',
    version: 1,
    data: { chunk, reason: data.reason, ...(chunk < 0 ? {} : { pageCount: known.pagesOf?.(chunk).length ?? 0 }) },
  }));
}

/** A bundle has been checked against all its segments, so it counts even if one of them was reported lost meanwhile. */
function bundleJoined(state: ExportJobState, { data }: FactOf<'BundleJoined'>, known: Knowledge): ExportEvent[] {
  const { manifestSha256 } = state;
  if (manifestSha256 === undefined) return [];
  const { attempt: _, reused, ...bundle } = data;
  const digestMatch = matchOf(state, data.sha256, known.original);
  return [
    {
      type: 'ExportCompleted',
      version: 1,
      data: {
        ...bundle,
        manifestSha256,
        ...(digestMatch === undefined ? {} : { digestMatch }),
        ...(reused === true ? { reusedBundle: true } : {}),
      },
    },
  ];
}

/** Compares the bundle of a replay with the original. Undefined for a job that replays no other, and when the original has no bundle. */
function matchOf(state: ExportJobState, sha256: string, original: Knowledge['original']) {
  if (original?.sha256 === undefined) return undefined;
  if (original.sha256 === sha256) return 'same';
  return original.rendererVersion === state.rendererVersion ? 'different' : 'renderer-changed';
}

/**
 * The first event of a job; none if the job exists already and comes from the same request. Throws `idempotency_conflict` if it comes from another
 * one.
 */
export function requestExport(
  state: Pick<ExportJobState, 'requestDigest'> | undefined,
  request: ExportEventOf<'ExportRequested'>['data'],
): ExportEvent[] {
  if (state === undefined) return [{ type: 'ExportRequested', version: 1, data: request }];
  if (state.requestDigest !== request.requestDigest) throw new ApiError('idempotency_conflict');
  return [];
}
