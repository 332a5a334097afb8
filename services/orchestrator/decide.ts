import type { ExportEvent } from '#shared/contracts/export-events.ts';
import type { ExportJobState } from '#shared/contracts/export-job-state.ts';
import { countChunks } from './chunk-bitmap.ts';
import { bundleFailed, chunkLost, closingFailed, exportFailed } from './decide-failure.ts';
import { evolve, type Happening } from './evolve.ts';
import type { ExportCommand, Knowledge } from './export-command.ts';
import { failedPagesSentence } from './failed-pages.ts';
import { foldFact } from './fold-fact.ts';
import { isActive, maxChunkAttempts } from './job-phase.ts';

type Decision = { state: ExportJobState; events: ExportEvent[] };

const lostReason = 'no worker reported it and none has it in hand';

/**
 * What happens to a job because of a command; nothing when the state already says so or the job has ended. Order and repetition of facts
 * do not matter. Pure: `at` only shows in the states between the events.
 */
export function decide(
  before: ExportJobState,
  command: ExportCommand,
  at: Happening,
  known: Knowledge = {},
): ExportEvent[] {
  const happen = (decision: Decision, event: ExportEvent): Decision =>
    isActive(decision.state.phase)
      ? { state: evolve(decision.state, event, at), events: [...decision.events, event] }
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

/** Whether `decide` will ask which pages a chunk has. */
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
      const { type: _, ...data } = command;
      return state.phase === 'requested' ? [{ type: 'PagesPlanned', version: 1, data }] : [];
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

/** Pages fail alone: only when every other page has been rendered does the job end. */
function whenAllChunksEnded(state: ExportJobState): ExportEvent[] {
  if (state.phase !== 'rendering') return [];
  const failedChunks = countChunks(state.failedChunks);
  if (countChunks(state.doneChunks) + failedChunks < state.chunkCount) return [];
  if (failedChunks === 0) {
    return [{ type: 'RenderingFinished', version: 1, data: { pageCount: state.pageCount } }];
  }
  return [exportFailed(state, failedPagesSentence(state.failedPages, state.failedPageCount))];
}
