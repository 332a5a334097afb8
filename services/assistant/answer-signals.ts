import type { AnswerSignal } from '#shared/contracts/answer-part.ts';
import type { AnswerWriting } from '#shared/messaging/answer-parts.ts';

/** Time for which a stop also ends an answer that has not begun: its question was received before. */
const stopHoldsMs = 60_000;

/** The notes of gateways about the answers of this process. */
export type AnswerSignals = {
  /** Calls `listener` for each note about this answer, until the returned function is called. */
  listen(chat: string, answerId: string, listener: (kind: AnswerSignal['kind']) => void): () => void;
  /** True if the chat was stopped since this time, in milliseconds of `performance.now()`. */
  wasStopped(chat: string, sinceMs: number): boolean;
};

/** Receives the notes with one subscription for all answers. */
export function answerSignals(bus: { writtenAnswers: Pick<AnswerWriting, 'onSignal'> }): AnswerSignals {
  const listeners = new Map<string, Set<{ answerId: string; listener: (kind: AnswerSignal['kind']) => void }>>();
  const stops = new Map<string, number>();
  bus.writtenAnswers.onSignal((chat, { kind, answerId }) => {
    if (kind === 'stop') noteStop(chat);
    for (const each of listeners.get(chat) ?? [])
      if (answerId === undefined || answerId === each.answerId) each.listener(kind);
  });

  function noteStop(chat: string): void {
    const now = performance.now();
    // A map keeps the order of insertion, so the oldest stops come first.
    for (const [old, at] of stops) {
      if (now - at < stopHoldsMs) break;
      stops.delete(old);
    }
    stops.delete(chat);
    stops.set(chat, now);
  }

  return {
    listen(chat, answerId, listener) {
      const each = { answerId, listener };
      const ofChat = listeners.get(chat) ?? new Set();
      listeners.set(chat, ofChat.add(each));
      return () => {
        ofChat.delete(each);
        if (ofChat.size === 0) listeners.delete(chat);
      };
    },
    wasStopped: (chat, sinceMs) => (stops.get(chat) ?? -Infinity) >= sinceMs,
  };
}
