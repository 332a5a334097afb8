import {
  type AnsweredQuestion,
  isThreadKey,
  mayContinue,
  rateAnswer,
  type Rating,
  recordAnswer,
  type ThreadIdentity,
  type ThreadOwner,
} from '#shared/aggregates/thread/decide.ts';
import {
  threadAggregate,
  type ThreadCommit,
  type ThreadEvent,
  type ThreadState,
} from '#shared/aggregates/thread/thread.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { EventLog, StoredCommit } from '#shared/messaging/event-log.ts';
import { handleCommand } from '#shared/messaging/handle-command.ts';
import { threadSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { Clock, RandomDigits } from '#shared/runtime/time-and-ids.ts';

/** A thread to answer in. It is stored with its first answer; its key is shown once, with that answer. */
export type Thread = ThreadIdentity & ThreadOwner & { stored: StoredThread | undefined };

type StoredThread = StoredCommit<ThreadCommit>;

/** 22 base62 digits carry 131 random bits. */
const idDigits = 22;
const keyDigits = 43;

export type Threads = ReturnType<typeof threads>;

/** Threads of questions and answers in the log: one commit per answered question. */
export function threads(log: EventLog<ThreadCommit>, clock: Clock, random: RandomDigits) {
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
      return { ...identity, fingerprintHash, newKey: undefined, stored };
    },

    /** Appends the answered question. Questions that were asked at the same time are all kept. */
    async record(thread: Thread, answered: AnsweredQuestion, caller: Caller): Promise<void> {
      await append(thread, caller, thread.stored, (state) => recordAnswer(state, thread, thread, answered));
    },

    /** Appends a reader's rating of an answer. Knowing the thread is enough; an unknown message is `not_found`, too. */
    async rate(identity: ThreadIdentity, rating: Rating, threadKey: string | undefined, caller: Caller): Promise<void> {
      const stored = await load(identity);
      if (!stored || !isThreadKey(stored.commit.data.state, threadKey)) throw noSuchThread();
      if (!(await hasMessage(stored.commit.subject, rating.messageId))) throw noSuchThread();
      await append(identity, caller, stored, () => rateAnswer(identity, rating));
    },
  };

  async function load({ organization, domain, threadId }: ThreadIdentity): Promise<StoredThread | undefined> {
    if (!/^th_[0-9A-Za-z]{22}$/.test(threadId)) return undefined;
    return log.last(threadSubject(organization, domain, threadId), { fromLeader: true });
  }

  async function append(
    { organization, domain, threadId }: ThreadIdentity,
    { actor, requestId, traceparent }: Caller,
    stored: StoredThread | undefined,
    decide: (state: ThreadState | undefined) => ThreadEvent[],
  ): Promise<void> {
    await handleCommand({ log, clock, random }, threadAggregate, {
      subject: threadSubject(organization, domain, threadId),
      decide,
      known: { stored },
      origin: { source: 'assistant', actor, causationId: requestId, correlationId: requestId, traceparent },
    });
  }

  async function hasMessage(subject: string, messageId: string): Promise<boolean> {
    for await (const { commit } of log.history(subject)) {
      if (commit.data.events.some((event) => event.type === 'QuestionAnswered' && event.data.messageId === messageId)) {
        return true;
      }
    }
    return false;
  }
}

const noSuchThread = (): ApiError =>
  new ApiError(
    'not_found',
    'There is no such thread, or it belongs to another reader. Leave out "threadId" to begin a new one.',
  );
