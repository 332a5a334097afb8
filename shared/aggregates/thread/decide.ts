import { createHash, createHmac } from 'node:crypto';
import { ApiError } from '#shared/http/errors.ts';
import { rememberedTurns, type ThreadEvent, type ThreadState, type Turn } from './thread.ts';
import { isSameSecret } from '#shared/runtime/same-secret.ts';

export type ThreadIdentity = { organization: string; domain: string; threadId: string };

/** The owner of a thread. `newKey`: the key of a new thread, undefined for a thread that has begun. */
export type ThreadOwner = { fingerprintHash: string; newKey: string | undefined };

export type AskedQuestion = {
  /** Id of the answer that follows. */
  messageId: string;
  question: string;
  /** The conversation so far, including the question. */
  turns: readonly Turn[];
};

export type AnsweredQuestion = Omit<AskedQuestion, 'turns'> & {
  answer: string;
  sources: { path: string; title: string }[];
  /** True if the documentation had no answer. */
  unanswered: boolean;
  /** True if the answer was interrupted. */
  aborted: boolean;
  model: string;
  /** Tokens that the language model read and wrote. */
  tokens: number;
};

export type Rating = {
  messageId: string;
  rating: 'up' | 'down';
  comment?: string | undefined;
  /** Time when the answer was recorded. */
  answeredAt?: string | undefined;
};

/** A message of the bus holds 1 MB, so only the start of a longer question or answer is kept. */
const questionCharacters = 16_000;
const answerCharacters = 64_000;

/** Adds a question to a thread, and begins the thread with the first one. Throws `not_found` when a thread that had begun was erased. Pure. */
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

/** Adds the answer to an earlier question. A thread that was erased meanwhile stays erased. Pure. */
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

/** Limits that keep reading a whole thread fast. */
const mostQuestions = 500;
const mostRatings = 500;

/** Throws when a thread has the maximum number of questions. */
export function checkRoomForQuestion({ turnCount }: ThreadState): void {
  if (turnCount >= mostQuestions)
    throw fullThread(
      `has ${mostQuestions} questions, which is the maximum. Leave out "threadId" to begin a new thread`,
    );
}

/**
 * Adds a reader's rating of an answer; repeating the same rating adds no event. Throws when the thread was erased, or has the maximum
 * number of ratings. Pure.
 */
export function rateAnswer(
  state: ThreadState | undefined,
  { organization, domain, threadId }: ThreadIdentity,
  rating: Rating,
  before: Rating | undefined,
): ThreadEvent[] {
  if (state === undefined) throw noSuchThread('rating');
  if (before?.rating === rating.rating && before.comment === rating.comment) return [];
  if ((state.ratingCount ?? 0) >= mostRatings) throw fullThread(`has ${mostRatings} ratings, which is the maximum`);
  return [{ type: 'AnswerRated', version: 1, data: { organization, domain, threadId, ...rating } }];
}

/** The data that remains of an answer when its thread is erased: its existence and its cost. */
export type ErasedAnswer = { messageId: string; answeredAt: string; tokens: number };

/** The event that lists the answers to forget. The identity is that of the erasure, not of the thread. Pure. */
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
  record: 'There is no such thread in this domain. It may have been erased or have expired.',
};

/**
 * The error for a thread that is unknown, erased, another reader's, or named with a wrong key: a caller cannot tell these apart. `wanted`:
 * the purpose of the request.
 */
export const noSuchThread = (wanted: keyof typeof notThere = 'question'): ApiError =>
  new ApiError('not_found', notThere[wanted]);

const fullThread = (problem: string): ApiError =>
  new ApiError('invalid_request', `The thread ${problem}.`, { fields: [{ path: 'threadId', message: problem }] });

/** The turns before the question. If the reader spoke right before it, both texts have become one turn. */
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

/** True if the owner of this fingerprint, and of this key if one is sent, may continue the thread. */
export function mayContinue(state: ThreadState, fingerprint: string, threadKey: string | undefined): boolean {
  return isSameSecret(fingerprint, state.fingerprintHash) && isThreadKey(state, threadKey);
}

/** True if the right key is sent, or none: readers need not send it. */
export function isThreadKey(state: ThreadState, threadKey: string | undefined): boolean {
  return threadKey === undefined || isSameSecret(threadKeyHash(threadKey), state.threadKeySha256);
}

const threadKeyHash = (key: string): string => createHash('sha256').update(key).digest('hex');
