import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '#shared/http/errors.ts';
import { rememberedTurns, type ThreadEvent, type ThreadState, type Turn } from './thread.ts';

export type ThreadIdentity = { organization: string; domain: string; threadId: string };

/** Who owns a thread. `newKey`: of a thread that has not begun. */
export type ThreadOwner = { fingerprintHash: string; newKey: string | undefined };

export type AskedQuestion = {
  /** Of the answer that follows. */
  messageId: string;
  question: string;
  /** What was said until then, the question included. */
  turns: readonly Turn[];
};

export type AnsweredQuestion = Omit<AskedQuestion, 'turns'> & {
  answer: string;
  sources: { path: string; title: string }[];
  /** The documentation had nothing to say. */
  unanswered: boolean;
  /** The answer was cut. */
  aborted: boolean;
  model: string;
  /** What the language model read and wrote. */
  tokens: number;
};

export type Rating = {
  messageId: string;
  rating: 'up' | 'down';
  comment?: string | undefined;
  /** When the answer was recorded. */
  answeredAt?: string | undefined;
};

/** A message of the bus holds 1 MB, so of a longer question or answer only the start is kept. */
const questionCharacters = 16_000;
const answerCharacters = 64_000;

/** Adds a question to a thread, and begins the thread with the first one. Throws `not_found` when one that had begun was erased. Pure. */
export function askQuestion(
  state: ThreadState | undefined,
  { organization, domain, threadId }: ThreadIdentity,
  { fingerprintHash, newKey }: ThreadOwner,
  { turns, ...asked }: AskedQuestion,
): ThreadEvent[] {
  const identity = { organization, domain, threadId };
  const question = asked.question.slice(0, questionCharacters);
  const questionAsked: ThreadEvent = { type: 'QuestionAsked', version: 1, data: { ...identity, ...asked, question } };
  if (state !== undefined) return [questionAsked];
  if (newKey === undefined) throw noSuchThread();
  const before = rememberedTurns(withoutQuestion(turns, asked.question));
  const data = { ...identity, fingerprintHash, threadKeySha256: threadKeyHash(newKey), turns: before };
  return [{ type: 'ThreadStarted', version: 1, data }, questionAsked];
}

/** Adds the answer to a question that was asked before. A thread that was erased meanwhile stays so. Pure. */
export function recordAnswer(
  state: ThreadState | undefined,
  { organization, domain, threadId }: ThreadIdentity,
  answered: AnsweredQuestion,
): ThreadEvent[] {
  if (state === undefined) return [];
  const question = answered.question.slice(0, questionCharacters);
  const answer = answered.answer.slice(0, answerCharacters);
  const data = { organization, domain, threadId, ...answered, question, answer };
  return [{ type: 'QuestionAnswered', version: 1, data }];
}

/** So that going through a thread stays quick. */
const mostQuestions = 500;
const mostRatings = 500;

/** Throws when a thread has as many questions as it can have. */
export function checkRoomForQuestion({ turnCount }: ThreadState): void {
  if (turnCount >= mostQuestions)
    throw fullThread(`has ${mostQuestions} questions, which is the most. Leave out "threadId" to begin a new thread`);
}

/**
 * Adds what a reader thinks of an answer; the same as before is no event. Throws when the thread was erased, or has as many ratings as it can
 * have. Pure.
 */
export function rateAnswer(
  state: ThreadState | undefined,
  { organization, domain, threadId }: ThreadIdentity,
  rating: Rating,
  before: Rating | undefined,
): ThreadEvent[] {
  if (state === undefined) throw noSuchThread('rating');
  if (before?.rating === rating.rating && before.comment === rating.comment) return [];
  if ((state.ratingCount ?? 0) >= mostRatings) throw fullThread(`has ${mostRatings} ratings, which is the most`);
  return [{ type: 'AnswerRated', version: 1, data: { organization, domain, threadId, ...rating } }];
}

/** What stays of an answer when its thread is erased: that there was one, and what it cost. */
export type ErasedAnswer = { messageId: string; answeredAt: string; tokens: number };

/** Says which answers are to be forgotten. The identity is that of the erasure, not of the thread. Pure. */
export function eraseAnswers(
  { organization, domain, threadId }: ThreadIdentity,
  answers: readonly ErasedAnswer[],
): ThreadEvent[] {
  return [{ type: 'ThreadErased', version: 1, data: { organization, domain, threadId, answers: [...answers] } }];
}

const notThere = {
  question: 'There is no such thread, or it belongs to another reader. Leave out "threadId" to begin a new one.',
  rating:
    'There is no such answer, or its thread is gone or has another key. Take "threadId" and "messageId" from the stream of the answer.',
  record: 'There is no such thread in this domain. It may have been erased, or its time is over.',
};

/** Unknown, erased, another reader's, or named with a wrong key: a caller cannot tell these apart. `wanted`: what it is needed for. */
export const noSuchThread = (wanted: keyof typeof notThere = 'question'): ApiError =>
  new ApiError('not_found', notThere[wanted]);

const fullThread = (problem: string): ApiError =>
  new ApiError('invalid_request', `The thread ${problem}.`, { fields: [{ path: 'threadId', message: problem }] });

/** What was said before the question. A reader's turn right before it has become one turn with it. */
function withoutQuestion(turns: readonly Turn[], question: string): Turn[] {
  const before = turns.slice(0, -1);
  const last = turns.at(-1);
  if (last === undefined || last.text === question) return before;
  return [...before, { role: last.role, text: last.text.slice(0, -question.length).trimEnd() }];
}

/** Identifies the reader of a thread without storing the fingerprint that the client sent. */
export function fingerprintHashOf(hashKey: string, organization: string, domain: string, fingerprint: string): string {
  return createHmac('sha256', hashKey)
    .update(JSON.stringify(['thread', organization, domain, fingerprint]))
    .digest('hex');
}

/** Whether the owner of this fingerprint, and of this key if one is sent, may continue the thread. */
export function mayContinue(state: ThreadState, fingerprint: string, threadKey: string | undefined): boolean {
  return sameHex(state.fingerprintHash, fingerprint) && isThreadKey(state, threadKey);
}

/** Readers need not send the key; a wrong one is refused. */
export function isThreadKey(state: ThreadState, threadKey: string | undefined): boolean {
  return threadKey === undefined || sameHex(state.threadKeySha256, threadKeyHash(threadKey));
}

const threadKeyHash = (key: string): string => createHash('sha256').update(key).digest('hex');

function sameHex(expected: string, shown: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(shown)];
  return a.length === b.length && timingSafeEqual(a, b);
}
