import type { FinishReason, TokenCounts } from './answer-wire.ts';

/** What became of an answer; filled in while it streams. */
export type AnswerOutcome = {
  text: string;
  finishReason: FinishReason;
  tokens: TokenCounts;
  /** The reader went away, the time was up, or the model failed. */
  aborted: boolean;
  sources: { path: string; title: string }[];
};

export const newOutcome = (): AnswerOutcome => ({
  text: '',
  finishReason: 'error',
  tokens: { input: 0, output: 0 },
  aborted: true,
  sources: [],
});
