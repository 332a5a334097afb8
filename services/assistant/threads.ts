import {
  type AnsweredQuestion,
  type AskedQuestion,
  askQuestion,
  checkRoomForQuestion,
  type ErasedAnswer,
  eraseAnswers,
  isThreadKey,
  mayContinue,
  noSuchThread,
  rateAnswer,
  type Rating,
  recordAnswer,
  type ThreadIdentity,
  type ThreadOwner,
} from '#shared/aggregates/thread/decide.ts';
import {
  lastTurnsOf,
  threadAggregate,
  type ThreadCommit,
  type ThreadEvent,
  type ThreadState,
  type Turn,
} from '#shared/aggregates/thread/thread.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import { threadId as threadIdSchema } from '#shared/contracts/identifiers.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { threadSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { Clock, RandomDigits } from '#shared/runtime/time-and-ids.ts';
import type { BudgetedThreads } from './conversation-budget.ts';

/** A thread to answer in. It is stored with its first question; its key is shown once, with the first answer. */
export type Thread = ThreadIdentity & ThreadOwner & { stored: StoredThread | undefined };

type StoredThread = StoredCommit<ThreadCommit>;

/** 22 base62 digits carry 131 random bits. */
const idDigits = 22;
const keyDigits = 43;

export type Threads = ReturnType<typeof threads>;

/** Threads of questions and answers in the log: one commit for each question, and one for its answer. */
export function threads(log: BudgetedThreads, clock: Clock, random: RandomDigits) {
  return {
    begin(organization: string, domain: string, fingerprintHash: string): Thread {
      const threadId = `th_${random(idDigits)}`;
      const newKey = `tk_${random(keyDigits)}`;
      return { organization, domain, threadId, fingerprintHash, newKey, stored: undefined };
    },

    /** A caller cannot tell an unknown thread, another reader's thread and a wrong key apart: all are `not_found`. */
    async resume(identity: ThreadIdentity, fingerprintHash: string, threadKey: string | undefined): Promise<Thread> {
      const stored = await load(identity);
      if (!stored || !mayContinue(stored.commit.data.state, fingerprintHash, threadKey)) throw noSuchThread();
      checkRoomForQuestion(stored.commit.data.state);
      return { ...identity, fingerprintHash, newKey: undefined, stored };
    },

    /** Throws `rate_limited` when no more of the organization's conversations can be stored today. */
    checkBudget: (organization: string): Promise<void> => log.checkBudget(organization),

    /** Earlier turns of a thread, oldest first, as far back as the next answer may need them. */
    async turns({ stored }: Thread): Promise<Turn[]> {
      return stored === undefined ? [] : await lastTurnsOf(backFrom(stored));
    },

    /** Appends a question before it is answered, so that it survives a crash. Returns the thread with the question. */
    async ask(thread: Thread, asked: AskedQuestion, caller: Caller): Promise<Thread> {
      const stored = await append(thread, caller, thread.stored, (state) => askQuestion(state, thread, thread, asked));
      return { ...thread, stored };
    },

    /** Appends the answer. Concurrent answers in one thread are all kept; the answer to an erased thread is not stored. */
    async record(thread: Thread, answered: AnsweredQuestion, caller: Caller): Promise<void> {
      await append(thread, caller, thread.stored, (state) => recordAnswer(state, thread, answered));
    },

    /** All commits of a thread that the log has, oldest first; throws `not_found` if there are none. */
    async history(identity: ThreadIdentity): Promise<ThreadCommit[]> {
      const newest = await load(identity);
      if (!newest) throw noSuchThread('record');
      return commitsUpTo(newest);
    },

    /**
     * Removes a thread from the log permanently. A commit beside it tells read models which answers to remove. Throws `not_found` if the thread does
     * not exist.
     */
    async erase(identity: ThreadIdentity, caller: Caller): Promise<void> {
      let newest = await load(identity);
      if (!newest) throw noSuchThread('record');
      // Another request may append to the thread meanwhile.
      for (; newest !== undefined; newest = await load(identity)) {
        const answers = (await commitsUpTo(newest)).flatMap(answersIn);
        const erasure = { ...identity, threadId: `er_${random(idDigits)}` };
        // The erasure is recorded first because it can be repeated: read models must forget answers that are gone from the log.
        if (answers.length > 0) await append(erasure, caller, undefined, () => eraseAnswers(erasure, answers));
        await log.purge(newest.commit.subject, newest);
      }
    },

    /** Appends a reader's rating of an answer, unless it repeats the current one. It takes the thread's id and key: an unknown thread, a wrong key and an unknown message are all `not_found`. */
    async rate(identity: ThreadIdentity, rating: Rating, threadKey: string | undefined, caller: Caller): Promise<void> {
      const stored = await load(identity);
      if (!stored || !isThreadKey(stored.commit.data.state, threadKey)) throw noSuchThread('rating');
      const { before, answeredAt } = await answerAndRating(stored, rating.messageId);
      await append(identity, caller, stored, (state) => rateAnswer(state, identity, { ...rating, answeredAt }, before));
    },
  };

  async function load({ organization, domain, threadId }: ThreadIdentity): Promise<StoredThread | undefined> {
    if (!threadIdSchema.safeParse(threadId).success) return undefined;
    return log.last(threadSubject(organization, domain, threadId), { fromLeader: true });
  }

  async function append(
    { organization, domain, threadId }: ThreadIdentity,
    { actor, requestId, traceparent }: Caller,
    stored: StoredThread | undefined,
    decide: (state: ThreadState | undefined) => ThreadEvent[],
  ): Promise<StoredThread | undefined> {
    const handled = await handleCommand({ log, clock, random }, threadAggregate, {
      subject: threadSubject(organization, domain, threadId),
      decide,
      known: { stored },
      origin: { source: 'assistant', actor, causationId: requestId, correlationId: requestId, traceparent },
    });
    return handled.stored;
  }

  async function commitsUpTo(newest: StoredThread): Promise<ThreadCommit[]> {
    const newestFirst: ThreadCommit[] = [];
    for await (const commit of backFrom(newest)) newestFirst.push(commit);
    return newestFirst.toReversed();
  }

  /** The commits of a thread from this one back, as far as the log still has them. */
  async function* backFrom(newest: StoredThread): AsyncGenerator<ThreadCommit> {
    const { subject } = newest.commit;
    for (let stored: StoredThread | undefined = newest; stored !== undefined; ) {
      yield stored.commit;
      const before: number = stored.commit.previousSequence;
      stored = before === 0 ? undefined : await log.at(subject, before);
    }
  }

  /** The time of an answer and its last rating. Throws `not_found` if the thread has no such answer. */
  async function answerAndRating(
    stored: StoredThread,
    messageId: string,
  ): Promise<{ answeredAt: string; before: Rating | undefined }> {
    let before: Rating | undefined;
    for await (const { time, data } of backFrom(stored)) {
      for (const event of data.events.toReversed()) {
        if (!('messageId' in event.data) || event.data.messageId !== messageId) continue;
        if (event.type === 'QuestionAnswered') return { answeredAt: time, before };
        if (event.type === 'AnswerRated') before ??= event.data;
      }
    }
    throw noSuchThread('rating');
  }
}

/** The answers that a commit records. */
const answersIn = ({ time, data }: ThreadCommit): ErasedAnswer[] =>
  data.events.flatMap((event) =>
    event.type === 'QuestionAnswered'
      ? [{ messageId: event.data.messageId, answeredAt: time, tokens: event.data.tokens ?? 0 }]
      : [],
  );
