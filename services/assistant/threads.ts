import {
  isThreadKey,
  mayContinue,
  threadAfter,
  type ThreadIdentity,
  threadKeyHash,
} from '#shared/aggregates/thread/decide.ts';
import type { ConversationCommit, ConversationEvent, ConversationState } from '#shared/aggregates/thread/thread.ts';
import { type Turn, withTurn } from '#shared/aggregates/thread/turns.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { Bus } from '#shared/messaging/bus.ts';
import { nextCommit } from '#shared/messaging/commit-chain.ts';
import { ConcurrentAppend, type StoredCommit } from '#shared/messaging/event-log.ts';
import { threadSubject } from '#shared/messaging/subjects/subject-names.ts';
import { type Clock, randomBase62 } from '#shared/runtime/time-and-ids.ts';
import type { AnswerOutcome } from './prepare-answer.ts';

export type Thread = ThreadIdentity & {
  fingerprintHash: string;
  /** Shown once, when the thread is new. */
  newKey: string | undefined;
  stored: StoredThread | undefined;
};

type StoredThread = StoredCommit<ConversationCommit>;

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
const ID_DIGITS = 22;
const KEY_DIGITS = 43;
const MAX_TRIES = 5;
/** A message of the bus holds 1 MB; longer questions and answers are kept in part. */
const QUESTION_CHARACTERS = 16_000;
const ANSWER_CHARACTERS = 64_000;

export type Threads = ReturnType<typeof threads>;

/** Threads of questions and answers in the log: one commit per answered question. */
export function threads(log: Bus['conversations'], clock: Clock) {
  return {
    begin(organization: string, domain: string, fingerprintHash: string): Thread {
      const threadId = `th_${randomBase62(ID_DIGITS)}`;
      return {
        organization,
        domain,
        threadId,
        fingerprintHash,
        newKey: `tk_${randomBase62(KEY_DIGITS)}`,
        stored: undefined,
      };
    },

    /** Unknown, somebody else's, and a wrong key are one and the same to a caller: `not_found`. */
    async resume(identity: ThreadIdentity, fingerprintHash: string, threadKey: string | undefined): Promise<Thread> {
      const stored = await load(identity);
      if (!stored || !mayContinue(stored.commit.data.state, fingerprintHash, threadKey)) throw noSuchThread();
      return { ...identity, fingerprintHash, newKey: undefined, stored };
    },

    /** Appends the answered question. Questions that were asked at the same time are all kept. */
    async record(thread: Thread, answered: AnsweredQuestion, caller: Caller): Promise<void> {
      await append(thread, thread.stored, caller, (previous) => {
        const isFirstTry = previous?.sequence === thread.stored?.sequence;
        const state = previous?.commit.data.state;
        const before = isFirstTry
          ? answered.turns
          : withTurn(state?.lastTurns ?? [], { role: 'user', text: answered.question });
        return {
          event: questionAnswered(thread, answered),
          state: threadAfter(state, () => newState(thread, clock), before, answered.outcome.text),
        };
      });
    },

    /** Appends what a reader thinks of an answer. Whoever knows the thread may say so; an unknown message is `not_found`, too. */
    async rate(identity: ThreadIdentity, rating: Rating, threadKey: string | undefined, caller: Caller): Promise<void> {
      const stored = await load(identity);
      if (!stored || !isThreadKey(stored.commit.data.state, threadKey)) throw noSuchThread();
      if (!(await hasMessage(log, stored.commit.subject, rating.messageId))) throw noSuchThread();
      await append(identity, stored, caller, (previous) => ({
        event: { type: 'AnswerRated', version: 1, data: { ...identity, ...rating } },
        state: (previous ?? stored).commit.data.state,
      }));
    },
  };

  async function load({ organization, domain, threadId }: ThreadIdentity): Promise<StoredThread | undefined> {
    if (!/^th_[0-9A-Za-z]{22}$/.test(threadId)) return undefined;
    return log.last(threadSubject(organization, domain, threadId), { fromLeader: true });
  }

  /** Appends what `decide` makes of the last commit; when somebody was faster, of that one. */
  async function append(
    { organization, domain, threadId }: ThreadIdentity,
    stored: StoredThread | undefined,
    caller: Caller,
    decide: (previous: StoredThread | undefined) => { event: ConversationEvent; state: ConversationState },
  ): Promise<void> {
    const subject = threadSubject(organization, domain, threadId);
    const id = `tc_${randomBase62(ID_DIGITS)}`;
    let previous = stored;
    for (let tries = 1; ; tries += 1) {
      const { event, state } = decide(previous);
      const commit = nextCommit(subject, previous, [event], state, {
        id,
        source: 'assistant',
        actor: caller.actor,
        time: clock.now(),
        causationId: caller.requestId,
        correlationId: caller.requestId,
        traceparent: caller.traceparent,
      });
      try {
        await log.append(commit, { sequence: previous?.sequence ?? 0 });
        return;
      } catch (error) {
        if (!(error instanceof ConcurrentAppend) || tries === MAX_TRIES) throw error;
        previous = await log.last(subject, { fromLeader: true });
      }
    }
  }
}

const noSuchThread = (): ApiError =>
  new ApiError(
    'not_found',
    'There is no such thread, or it belongs to another reader. Leave out "threadId" to begin a new one.',
  );

async function hasMessage(log: Bus['conversations'], subject: string, messageId: string): Promise<boolean> {
  for await (const { commit } of log.history(subject)) {
    if (commit.data.events.some((event) => event.type === 'QuestionAnswered' && event.data.messageId === messageId)) {
      return true;
    }
  }
  return false;
}

function newState(thread: Thread, clock: Clock): Omit<ConversationState, 'lastTurns' | 'turnCount'> {
  const { organization, domain, threadId, fingerprintHash } = thread;
  return {
    organization,
    domain,
    threadId,
    fingerprintHash,
    threadKeySha256: threadKeyHash(thread.newKey ?? ''),
    createdAt: clock.now().toISOString(),
  };
}

function questionAnswered(thread: Thread, answered: AnsweredQuestion): ConversationEvent {
  const { organization, domain, threadId } = thread;
  const { messageId, question, outcome, unanswered, model } = answered;
  return {
    type: 'QuestionAnswered',
    version: 1,
    data: {
      organization,
      domain,
      threadId,
      messageId,
      question: question.slice(0, QUESTION_CHARACTERS),
      answer: outcome.text.slice(0, ANSWER_CHARACTERS),
      sources: outcome.sources,
      unanswered,
      aborted: outcome.aborted,
      model,
    },
  };
}
