import { isThreadKey, mayContinue, type ThreadIdentity, threadKeyHash } from '#shared/aggregates/thread/decide.ts';
import {
  carried,
  threadAggregate,
  type ThreadCommit,
  type ThreadEvent,
  type ThreadState,
} from '#shared/aggregates/thread/thread.ts';
import type { Turn } from '#shared/aggregates/thread/turns.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { EventLog, StoredCommit } from '#shared/messaging/event-log.ts';
import { handleCommand } from '#shared/messaging/handle-command.ts';
import { threadSubject } from '#shared/messaging/subjects/subject-names.ts';
import { type Clock, randomBase62 } from '#shared/runtime/time-and-ids.ts';
import type { AnswerOutcome } from './prepare-answer.ts';

export type Thread = ThreadIdentity & {
  fingerprintHash: string;
  /** Shown once, when the thread is new. */
  newKey: string | undefined;
  stored: StoredThread | undefined;
};

type StoredThread = StoredCommit<ThreadCommit>;

export type Rating = { messageId: string; rating: 'up' | 'down'; comment?: string | undefined };

export type AnsweredQuestion = {
  messageId: string;
  question: string;
  /** What was said until then, the question included. */
  turns: readonly Turn[];
  outcome: AnswerOutcome;
  unanswered: boolean;
  model: string;
};

/** 22 base62 digits carry 131 random bits. */
const idDigits = 22;
const keyDigits = 43;
/** A message of the bus holds 1 MB, so of a longer question or answer only the start is kept. */
const questionCharacters = 16_000;
const answerCharacters = 64_000;

export type Threads = ReturnType<typeof threads>;

/** Threads of questions and answers in the log: one commit per answered question. */
export function threads(log: EventLog<ThreadCommit>, clock: Clock) {
  return {
    begin(organization: string, domain: string, fingerprintHash: string): Thread {
      const threadId = `th_${randomBase62(idDigits)}`;
      const newKey = `tk_${randomBase62(keyDigits)}`;
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
      await append(thread, caller, thread.stored, (state) => [
        ...(state === undefined ? [threadStarted(thread, answered)] : []),
        questionAnswered(thread, answered),
      ]);
    },

    /** Appends what a reader thinks of an answer. Knowing the thread is enough; an unknown message is `not_found`, too. */
    async rate(identity: ThreadIdentity, rating: Rating, threadKey: string | undefined, caller: Caller): Promise<void> {
      const stored = await load(identity);
      if (!stored || !isThreadKey(stored.commit.data.state, threadKey)) throw noSuchThread();
      if (!(await hasMessage(stored.commit.subject, rating.messageId))) throw noSuchThread();
      const { organization, domain, threadId } = identity;
      await append(identity, caller, stored, () => [
        { type: 'AnswerRated', version: 1, data: { organization, domain, threadId, ...rating } },
      ]);
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
    await handleCommand({ log, clock, random: randomBase62 }, threadAggregate, {
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

function threadStarted(
  { organization, domain, threadId, fingerprintHash, newKey = '' }: Thread,
  { turns, question }: AnsweredQuestion,
): ThreadEvent {
  return {
    type: 'ThreadStarted',
    version: 1,
    data: {
      organization,
      domain,
      threadId,
      fingerprintHash,
      threadKeySha256: threadKeyHash(newKey),
      turns: carried(withoutQuestion(turns, question)),
    },
  };
}

/** What was said before the question. A reader's turn right before it has become one turn with it. */
function withoutQuestion(turns: readonly Turn[], question: string): Turn[] {
  const before = turns.slice(0, -1);
  const last = turns.at(-1);
  if (last === undefined || last.text === question) return before;
  return [...before, { role: last.role, text: last.text.slice(0, -question.length).trimEnd() }];
}

function questionAnswered(
  { organization, domain, threadId }: ThreadIdentity,
  { messageId, question, outcome, unanswered, model }: AnsweredQuestion,
): ThreadEvent {
  return {
    type: 'QuestionAnswered',
    version: 1,
    data: {
      organization,
      domain,
      threadId,
      messageId,
      question: question.slice(0, questionCharacters),
      answer: outcome.text.slice(0, answerCharacters),
      sources: outcome.sources,
      unanswered,
      aborted: outcome.aborted,
      model,
    },
  };
}
