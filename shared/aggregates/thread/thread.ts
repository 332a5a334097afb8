import { z } from 'zod';
import { type Aggregate, commitSchema, type EventMetadata, eventSchema } from '#shared/contracts/commit.ts';
import { domainSlug, organizationId, sha256Hex, timestamp } from '#shared/contracts/identifiers.ts';
import { storedCommit } from '#shared/contracts/upcast.ts';

const turn = z.object({ role: z.enum(['user', 'assistant']), text: z.string() });

/** The text of one side until the other side speaks. In a list of turns the first is a user's, and the sides alternate. */
export type Turn = z.infer<typeof turn>;

const identity = { organization: organizationId, domain: domainSlug, threadId: z.string() };
const event = eventSchema(identity);

export const threadEventSchema = z.discriminatedUnion('type', [
  event('ThreadStarted', {
    /** Keyed hash of the reader's fingerprint. */
    fingerprintHash: sha256Hex,
    threadKeySha256: sha256Hex,
    /** The conversation before the first question, as sent by the client. */
    turns: z.array(turn),
  }),
  /** Recorded before the answer begins. If no `QuestionAnswered` follows, the answer was interrupted or is still being written. */
  event('QuestionAsked', { messageId: z.string(), question: z.string() }),
  event('QuestionAnswered', {
    messageId: z.string(),
    question: z.string(),
    answer: z.string(),
    sources: z.array(z.object({ path: z.string(), title: z.string() })),
    /** True if the documentation had no answer. */
    unanswered: z.boolean(),
    /** True if the answer was interrupted: the reader disconnected or the model failed. */
    aborted: z.boolean(),
    model: z.string(),
    /** Tokens that the language model read and wrote for the answer. Older answers have none. */
    tokens: z.int().min(0).optional(),
  }),
  event('AnswerRated', {
    messageId: z.string(),
    rating: z.enum(['up', 'down']),
    comment: z.string().optional(),
    /** Time when the answer was recorded. Older ratings have none. */
    answeredAt: timestamp.optional(),
  }),
  /**
   * A thread was removed from the log. This event is on a separate subject under a separate `threadId`. Its only data about the thread are
   * the answers that earlier readers of the log have to forget.
   */
  event('ThreadErased', {
    answers: z.array(z.object({ messageId: z.string(), answeredAt: timestamp, tokens: z.int().min(0) })),
  }),
]);

export type ThreadEvent = z.infer<typeof threadEventSchema>;

const threadStateSchema = z.object({
  ...identity,
  fingerprintHash: sha256Hex,
  threadKeySha256: sha256Hex,
  createdAt: timestamp,
  /** Number of answered questions. */
  turnCount: z.int(),
  ratingCount: z.int().optional(),
  /**
   * Empty in new commits: a commit carries its events, and a reader that continues a thread reads back as far as it needs (`lastTurnsOf`).
   * Older commits have the newest turns here, and then earlier commits need not be read.
   */
  lastTurns: z.array(turn),
});

export type ThreadState = z.infer<typeof threadStateSchema>;

export const threadCommitSchema = commitSchema(threadEventSchema, threadStateSchema);

export type ThreadCommit = z.infer<typeof threadCommitSchema>;

/**
 * One thread of questions and answers (`threads.<org>.<domain>.<thread>`), kept for a limited age.
 * Threads that began before `ThreadStarted` existed have no such event; their first commit has the state nevertheless.
 */
export const threadAggregate: Aggregate<ThreadEvent, ThreadState> = {
  commitIdPrefix: 'tc',
  storedCommit: storedCommit(threadCommitSchema, {}),
  evolve,
};

/** Placeholder of the owner of an erasure, which nobody can continue. */
const nobody = '0'.repeat(64);

/** Throws when a question comes before the start of its thread. */
function evolve(state: ThreadState | undefined, { type, data }: ThreadEvent, { time }: EventMetadata): ThreadState {
  if (type === 'ThreadStarted') {
    const { turns, ...rest } = data;
    return { ...rest, createdAt: time, turnCount: 0, lastTurns: [] };
  }
  if (type === 'ThreadErased') {
    const { organization, domain, threadId } = data;
    const owner = { fingerprintHash: nobody, threadKeySha256: nobody };
    return { organization, domain, threadId, ...owner, createdAt: time, turnCount: 0, lastTurns: [] };
  }
  if (state === undefined) throw new Error(`${type} comes before the start of the thread ${data.threadId}.`);
  switch (type) {
    case 'QuestionAsked':
      return { ...state, lastTurns: [] };
    case 'QuestionAnswered':
      return { ...state, turnCount: state.turnCount + 1, lastTurns: [] };
    case 'AnswerRated':
      return { ...state, ratingCount: (state.ratingCount ?? 0) + 1, lastTurns: [] };
  }
}

/** Limits of the conversation that the next answer gets. */
const remembered = { bytes: 64 * 1024, /** A longer turn is cut to its start. */ turnCharacters: 8_000 };

/** The newest turns within these limits: the conversation that the next answer gets. Pure. */
export function rememberedTurns(turns: readonly Turn[]): Turn[] {
  const bounded = turns.map(({ role, text }) => ({ role, text: text.slice(0, remembered.turnCharacters) }));
  return newestTurns(bounded, remembered.bytes);
}

/** Returns what `rememberedTurns` returns, from the commits of a thread, newest first. It reads only as many commits as it needs. */
export async function lastTurnsOf(newestFirst: AsyncIterable<ThreadCommit>): Promise<Turn[]> {
  let turns: Turn[] = [];
  const answered = new Set<string>();
  for await (const { data } of newestFirst) {
    const { lastTurns } = data.state;
    for (const event of data.events) if (event.type === 'QuestionAnswered') answered.add(event.data.messageId);
    const said = lastTurns.length > 0 ? lastTurns : data.events.flatMap((event) => turnsIn(event, answered));
    turns = turns.reduce(withTurn, said);
    const size = turns.reduce((sum, { text }) => sum + Math.min(text.length, remembered.turnCharacters), 0);
    if (lastTurns.length > 0 || size > remembered.bytes) break;
  }
  return rememberedTurns(turns);
}

/** Placeholder that separates a question without an answer from the next question. */
const noAnswer = '(This question got no answer.)';

/** The turns of an event. `answered`: the messages that later commits answer. */
function turnsIn({ type, data }: ThreadEvent, answered: ReadonlySet<string>): Turn[] {
  switch (type) {
    case 'ThreadStarted':
      return data.turns;
    case 'QuestionAsked':
      return answered.has(data.messageId) ? [] : turnsOf(data.question, noAnswer);
    case 'QuestionAnswered':
      return turnsOf(data.question, data.answer === '' ? noAnswer : data.answer);
    case 'AnswerRated':
    case 'ThreadErased':
      return [];
  }
}

const turnsOf = (question: string, answer: string): Turn[] => [
  { role: 'user', text: question },
  { role: 'assistant', text: answer },
];

/** Appends a turn. If the same side spoke last, the text is added to that turn. */
export function withTurn(turns: Turn[], turn: Turn): Turn[] {
  const last = turns.at(-1);
  if (last?.role !== turn.role) return [...turns, turn];
  return [...turns.slice(0, -1), { role: turn.role, text: `${last.text}\n\n${turn.text}` }];
}

/** The newest turns whose text has at most `maxBytes` of UTF-8. The first is a user's. */
export function newestTurns(turns: readonly Turn[], maxBytes: number): Turn[] {
  let size = 0;
  const firstThatFits = turns.findLastIndex((turn) => {
    size += Buffer.byteLength(turn.text);
    return size > maxBytes;
  });
  const kept = turns.slice(firstThatFits + 1);
  const firstUser = kept.findIndex((turn) => turn.role === 'user');
  return firstUser === -1 ? [] : kept.slice(firstUser);
}
