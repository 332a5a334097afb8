import type { AnswerPart, AnswerSignal } from '#shared/contracts/answer-part.ts';
import type { AnswerKey, AnswerReading, AnswerWriting, StoredPart } from '#shared/messaging/answer-parts.ts';
import { answerSubject, subjectMatches } from '#shared/messaging/subjects/subject-names.ts';

export type MemoryAnswers = AnswerWriting &
  AnswerReading & {
    /** Forgets all parts, as a server that lost its stream. */
    forget(): void;
  };

const subjectOf = ({ organization, domain, chat, answerId }: AnswerKey): string =>
  answerSubject(organization, domain, chat, answerId);

/** Answers that can be resumed, in one process. `gate` rejects while the bus is down. */
export function memoryAnswers(gate: () => Promise<void>): MemoryAnswers {
  let stored: (StoredPart & { subject: string })[] = [];
  const seen = new Set<string>();
  const listeners = new Set<{ subject: string; listener: (part: AnswerPart) => void }>();
  const signals = new Set<(chat: string, signal: AnswerSignal) => void>();
  return {
    forget: () => {
      stored = [];
    },
    async append(key, part) {
      await gate();
      const subject = subjectOf(key);
      stored.push({ part: structuredClone(part), subject, answerId: key.answerId, storedAt: new Date() });
      for (const each of [...listeners]) if (each.subject === subject) each.listener(structuredClone(part));
      return stored.length;
    },
    onSignal(listener) {
      signals.add(listener);
      return () => void signals.delete(listener);
    },
    async newest(chat) {
      await gate();
      const filter = subjectOf({ ...chat, answerId: '*' });
      const ofChat = stored.filter(({ subject }) => subjectMatches(filter, subject));
      const begun = [...new Set(ofChat.map(({ answerId }) => answerId))].at(-1);
      return ofChat.findLast(({ answerId }) => answerId === begun);
    },
    async parts(answer) {
      await gate();
      return stored.filter(({ subject }) => subject === subjectOf(answer)).map(({ part }) => structuredClone(part));
    },
    onPart(answer, listener) {
      const each = { subject: subjectOf(answer), listener };
      listeners.add(each);
      return () => void listeners.delete(each);
    },
    async isSeen(answerId) {
      await gate();
      return seen.has(answerId);
    },
    async markSeen(answerId) {
      await gate();
      seen.add(answerId);
    },
    signal(chat, signal) {
      for (const listener of [...signals]) listener(chat, signal);
    },
  };
}
