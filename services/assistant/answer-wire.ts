import type { UiChunk } from './ui-chunk-filter.ts';

export const finishReasons = ['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'] as const;
export type FinishReason = (typeof finishReasons)[number];

/** Everything else that models say they ended for is `other`: clients reject what they do not know. */
export const finishReasonOf = (reason: unknown): FinishReason =>
  finishReasons.find((known) => known === reason) ?? 'other';

export type AnswerIds = { messageId: string; threadId: string };
export type TokenCounts = { input: number; output: number };

/** How an answer is written for one kind of client; each function gives the bytes of one network write. */
export type AnswerWire = {
  headers: Readonly<Record<string, string>>;
  start(ids: AnswerIds): string;
  chunk(chunk: UiChunk): string;
  finish(ids: AnswerIds, reason: FinishReason, tokens: TokenCounts): string;
  /** Does nothing in any client, and keeps proxies from closing the connection. */
  keepAlive: string;
};
