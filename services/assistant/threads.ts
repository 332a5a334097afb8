import type { Bus } from '#shared/bus/bus.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { ConversationCommit, ConversationState } from '#shared/contracts/conversation-events.ts';
import { ApiError } from '#shared/errors/api-error.ts';
import { ConcurrentAppend } from '#shared/event-log/concurrent-append.ts';
import type { StoredCommit } from '#shared/event-log/event-log.ts';
import { nextCommit } from '#shared/event-log/next-commit.ts';
import type { Caller } from '#shared/internal-http/caller.ts';
import { randomBase62 } from '#shared/identifiers/base62.ts';
import { threadSubject } from '#shared/subjects/subject-names.ts';
import type { AnswerOutcome } from './answer-outcome.ts';
import { type Turn, withTurn } from './conversation-turns.ts';
import { mayContinue, type ThreadIdentity, threadAfter, threadKeyHash } from './thread-state.ts';

export type Thread = ThreadIdentity & {
  fingerprintHash: string;
  /** Shown once, when the thread is new. */
  newKey: string | undefined;
  stored: StoredCommit<ConversationCommit> | undefined;
};

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
      const isThreadId = /^th_[0-9A-Za-z]{22}$/.test(identity.threadId);
      const { organization, domain, threadId } = identity;
      const stored = isThreadId
        ? await log.last(threadSubject(organization, domain, threadId), { fromLeader: true })
        : undefined;
      if (!stored || !mayContinue(stored.commit.data.state, fingerprintHash, threadKey)) {
        throw new ApiError(
          'not_found',
          'There is no such thread, or it belongs to another reader. Leave out "threadId" to begin a new one.',
        );
      }
      return { ...identity, fingerprintHash, newKey: undefined, stored };
    },

    /** Appends the answered question. Questions that were asked at the same time are all kept. */
    async record(thread: Thread, answered: AnsweredQuestion, caller: Caller): Promise<void> {
      const subject = threadSubject(thread.organization, thread.domain, thread.threadId);
      const id = `qa_${randomBase62(ID_DIGITS)}`;
      let previous = thread.stored;
      for (let tries = 1; ; tries += 1) {
        const origin = {
          id,
          source: 'assistant',
          actor: caller.actor,
          time: clock.now(),
          causationId: caller.requestId,
          correlationId: caller.requestId,
          traceparent: caller.traceparent,
        };
        const isFirstTry = previous?.sequence === thread.stored?.sequence;
        const before = isFirstTry
          ? answered.turns
          : withTurn(previous?.commit.data.state.lastTurns ?? [], { role: 'user', text: answered.question });
        const state = threadAfter(
          previous?.commit.data.state,
          () => newState(thread, clock),
          before,
          answered.outcome.text,
        );
        const commit = nextCommit(subject, previous, [questionAnswered(thread, answered)], state, origin);
        try {
          await log.append(commit, { sequence: previous?.sequence ?? 0 });
          return;
        } catch (error) {
          if (!(error instanceof ConcurrentAppend) || tries === MAX_TRIES) throw error;
          previous = await log.last(subject, { fromLeader: true });
        }
      }
    },
  };
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

function questionAnswered(thread: Thread, answered: AnsweredQuestion): ConversationCommit['data']['events'][number] {
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
      question,
      answer: outcome.text,
      sources: outcome.sources,
      unanswered,
      aborted: outcome.aborted,
      model,
    },
  };
}
