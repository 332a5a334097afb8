import type { AnswerOutcome } from './answer-outcome.ts';
import type { UiChunk } from './ui-chunk-filter.ts';

/** An answer that needs no model, in the shape of one. */
export async function* fixedAnswer(text: string, outcome: AnswerOutcome): AsyncGenerator<UiChunk> {
  yield { type: 'start-step' };
  yield { type: 'text-start', id: 'answer' };
  yield { type: 'text-delta', id: 'answer', delta: text };
  yield { type: 'text-end', id: 'answer' };
  yield { type: 'finish-step' };
  Object.assign(outcome, { text, finishReason: 'stop', aborted: false });
}
