import type { AnswerPart, AnswerSignal } from '#shared/contracts/answer-part.ts';

/** A chat of a domain. `chat`: keyed hash of its id, so that nobody who reads subjects learns the id. */
export type ChatKey = { organization: string; domain: string; chat: string };

export type AnswerKey = ChatKey & { answerId: string };

/** A stored part with the answer that it belongs to. */
export type StoredPart = { part: AnswerPart; answerId: string; storedAt: Date };

/** The assistant's side of answers that can be resumed. Parts are kept for ten minutes, and may be lost earlier. */
export type AnswerWriting = {
  /**
   * Stores a part, in one try. Returns its place in the stream: a lower one than before means that the stream was lost and made again. Rejects with
   * `Unavailable` if a further try may succeed.
   */
  append(key: AnswerKey, part: AnswerPart): Promise<number>;
  /** Calls `listener` with the notes of gateways about any chat, until the returned function is called. Notes may be lost. */
  onSignal(listener: (chat: string, signal: AnswerSignal) => void): () => void;
};

/** The gateway's side. */
export type AnswerReading = {
  /** The last part of the answer in a chat that began last. */
  newest(chat: ChatKey): Promise<StoredPart | undefined>;
  /** All parts of an answer, oldest first. */
  parts(answer: AnswerKey): Promise<AnswerPart[]>;
  /** Calls `listener` with new parts of an answer until the returned function is called. Parts may be missed while the bus is unavailable. */
  onPart(answer: AnswerKey, listener: (part: AnswerPart) => void): () => void;
  /** True if a reader has read the answer to its end, or stopped it. */
  isSeen(answerId: string): Promise<boolean>;
  markSeen(answerId: string): Promise<void>;
  /** Sends a note to the assistants, if the bus is available. */
  signal(chat: string, signal: AnswerSignal): void;
};
