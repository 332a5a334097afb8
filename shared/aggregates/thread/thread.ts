import { z } from 'zod';
import { type Aggregate, commitSchema, type EventMetadata } from '#shared/contracts/commit.ts';
import { domainSlug, organizationId, sha256Hex, timestamp } from '#shared/contracts/identifiers.ts';
import { storedCommit } from '#shared/contracts/upcast.ts';

const turn = z.object({ role: z.enum(['user', 'assistant']), text: z.string() });

/** What one side said before the other spoke. In a list of turns the first is a user's, and the sides alternate. */
export type Turn = z.infer<typeof turn>;

const identity = { organization: organizationId, domain: domainSlug, threadId: z.string() };
const event = <T extends string, D extends z.ZodRawShape>(type: T, data: D) =>
  z.object({ type: z.literal(type), version: z.literal(1), data: z.object({ ...identity, ...data }) });

export const threadEventSchema = z.discriminatedUnion('type', [
  event('ThreadStarted', {
    /** Keyed hash of the reader's fingerprint. */
    fingerprintHash: sha256Hex,
    threadKeySha256: sha256Hex,
    /** What the client says was said before the first question. */
    turns: z.array(turn),
  }),
  /** Before the answer begins. One that no `QuestionAnswered` follows has ended unfinished, or is still being answered. */
  event('QuestionAsked', { messageId: z.string(), question: z.string() }),
  event('QuestionAnswered', {
    messageId: z.string(),
    question: z.string(),
    answer: z.string(),
    sources: z.array(z.object({ path: z.string(), title: z.string() })),
    /** The documentation had nothing to say. */
    unanswered: z.boolean(),
    /** The answer was cut: the reader went away or the model failed. */
    aborted: z.boolean(),
    model: z.string(),
    /** What the language model read and wrote for it. Older answers do not say. */
    tokens: z.int().min(0).optional(),
  }),
  event('AnswerRated', {
    messageId: z.string(),
    rating: z.enum(['up', 'down']),
    comment: z.string().optional(),
    /** When the answer was recorded. Older ratings do not say. */
    answeredAt: timestamp.optional(),
  }),
  /**
   * A thread was taken out of the log. This is on a subject of its own, and `threadId` is an id of its own: all that it has of the thread is which
   * answers those who read them before have to forget.
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
  /** Answered questions. */
  turnCount: z.int(),
  ratingCount: z.int().optional(),
  /**
   * Empty now: a commit carries what happened, and who goes on with a thread reads back as far as it needs (`lastTurnsOf`). Older commits have
   * the newest turns here, and then nothing before them needs to be read.
   */
  lastTurns: z.array(turn),
});

export type ThreadState = z.infer<typeof threadStateSchema>;

export const threadCommitSchema = commitSchema(threadEventSchema, threadStateSchema);

export type ThreadCommit = z.infer<typeof threadCommitSchema>;

/**
 * One thread of questions and answers (`threads.<org>.<domain>.<thread>`), kept for a limited age.
 * Threads that began before `ThreadStarted` existed have no such event; their first commit has the state all the same.
 */
export const threadAggregate: Aggregate<ThreadEvent, ThreadState> = {
  commitIdPrefix: 'tc',
  storedCommit: storedCommit(threadCommitSchema, {}),
  evolve,
};

/** Nobody can go on with an erasure. */
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
  if (type === 'AnswerRated') return { ...state, ratingCount: (state.ratingCount ?? 0) + 1, lastTurns: [] };
  if (type === 'QuestionAsked') return { ...state, lastTurns: [] };
  return { ...state, turnCount: state.turnCount + 1, lastTurns: [] };
}

/** Text of a thread that its next answer may need. */
const remembered = { bytes: 64 * 1024, /** Only the start of a longer turn counts. */ turnCharacters: 8_000 };

/** As much of what was said as the next answer may need. Pure. */
export function rememberedTurns(turns: readonly Turn[]): Turn[] {
  const bounded = turns.map(({ role, text }) => ({ role, text: text.slice(0, remembered.turnCharacters) }));
  return newestTurns(bounded, remembered.bytes);
}

/** The same from the commits of a thread, newest first; it takes no more of them than it needs. */
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

/** So that a question without an answer stays one of its own, and the next one is not taken for its end. */
const noAnswer = '(This question got no answer.)';

/** `answered`: the messages that later commits answer. */
function turnsIn({ type, data }: ThreadEvent, answered: ReadonlySet<string>): Turn[] {
  if (type === 'ThreadStarted') return data.turns;
  if (type === 'AnswerRated' || type === 'ThreadErased') return [];
  if (type === 'QuestionAsked' && answered.has(data.messageId)) return [];
  const answer = type === 'QuestionAnswered' && data.answer !== '' ? data.answer : noAnswer;
  return [
    { role: 'user', text: data.question },
    { role: 'assistant', text: answer },
  ];
}

/** The turns and one more. If the same side spoke last, it becomes part of that turn. */
export function withTurn(turns: Turn[], turn: Turn): Turn[] {
  const last = turns.at(-1);
  if (last?.role !== turn.role) return [...turns, turn];
  return [...turns.slice(0, -1), { role: turn.role, text: `${last.text}\n\n${turn.text}` }];
}

/** The newest turns whose text has at most `maxBytes` of UTF-8; the first is a user's. */
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
