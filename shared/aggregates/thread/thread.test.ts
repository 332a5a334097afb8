import { describe, expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import {
  type AnsweredQuestion,
  askQuestion,
  checkRoomForQuestion,
  eraseAnswers,
  fingerprintHashOf,
  isThreadKey,
  mayContinue,
  noSuchThread,
  rateAnswer,
  recordAnswer,
} from './decide.ts';
import {
  lastTurnsOf,
  newestTurns,
  rememberedTurns,
  threadAggregate,
  type ThreadCommit,
  type ThreadEvent,
  type ThreadState,
  type Turn,
  withTurn,
} from './thread.ts';

const time = '2026-03-01T10:00:00.000Z';
const identity = { organization: 'acme', domain: 'docs', threadId: 't_1' };
const owner = { fingerprintHash: 'f'.repeat(64), newKey: 'the key' };
const user = (text: string): Turn => ({ role: 'user', text });
const assistant = (text: string): Turn => ({ role: 'assistant', text });
const asked = (question: string, ...before: Turn[]) => ({
  messageId: 'msg_1',
  question,
  turns: [...before, user(question)],
});
const answered = (more: Partial<AnsweredQuestion> = {}): AnsweredQuestion => ({
  messageId: 'msg_1',
  question: 'one',
  answer: 'An answer',
  sources: [{ path: 'a', title: 'A' }],
  unanswered: false,
  aborted: false,
  model: 'test',
  tokens: 7,
  ...more,
});
const after = (state: ThreadState | undefined, ...events: ThreadEvent[]): ThreadState | undefined =>
  events.reduce<ThreadState | undefined>(
    (before, event) => threadAggregate.evolve(before, event, { time, actor: { kind: 'service', id: 'assistant' } }),
    state,
  );
const begun = (): ThreadState => {
  const state = after(undefined, ...askQuestion(undefined, identity, owner, asked('one')));
  if (state === undefined) throw new Error('nothing happened');
  return state;
};

describe('newest turns', () => {
  test('are those of a long thread that fit, starting with a user', () => {
    const turns: Turn[] = ['a'.repeat(50), 'b'.repeat(50), 'c', 'd'].map((text, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      text,
    }));
    expect(newestTurns(turns, 60).map((turn) => turn.text)).toEqual(['c', 'd']);
    expect(newestTurns(turns, 1)).toEqual([]);
    expect(newestTurns(turns, 1_000)).toHaveLength(4);
    expect([newestTurns(turns, 102), newestTurns(turns, 101)]).toEqual([turns, turns.slice(2)].map((kept) => kept));
  });

  test('count bytes, and only the first 8,000 characters of each', () => {
    expect(newestTurns([user('é'), assistant('b')], 3)).toHaveLength(2);
    expect(newestTurns([user('é'), assistant('b')], 2)).toEqual([]);
    expect(rememberedTurns([user('x'.repeat(8_001))])).toEqual([user('x'.repeat(8_000))]);
    const long = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? user : assistant)('y'.repeat(8_000)));
    expect(rememberedTurns(long)).toHaveLength(8);
  });
});

test('a turn of the side that spoke last is added to its text', () => {
  expect(withTurn([], user('a'))).toEqual([user('a')]);
  expect(withTurn([user('a')], user('b'))).toEqual([user('a\n\nb')]);
  expect(withTurn([user('a'), assistant('b')], user('c'))).toEqual([user('a'), assistant('b'), user('c')]);
  expect(withTurn([user('a'), assistant('b')], assistant('c'))).toEqual([user('a'), assistant('b\n\nc')]);
});

describe('a question', () => {
  test('begins a thread with the turns before it', () => {
    const events = askQuestion(undefined, identity, owner, asked('one', user('before'), assistant('said')));
    expect(events).toEqual([
      {
        type: 'ThreadStarted',
        version: 1,
        data: {
          ...identity,
          fingerprintHash: owner.fingerprintHash,
          threadKeySha256: sha256Of('the key'),
          turns: [user('before'), assistant('said')],
        },
      },
      { type: 'QuestionAsked', version: 1, data: { ...identity, messageId: 'msg_1', question: 'one' } },
    ]);
    expect(askQuestion(begun(), identity, owner, asked('two', user('before'))).map(({ type }) => type)).toEqual([
      'QuestionAsked',
    ]);
  });

  test('is left out of the turns before it, also where both were one turn', () => {
    const before = (...turns: Turn[]) => {
      const [started] = askQuestion(undefined, identity, owner, { messageId: 'msg_1', question: 'one', turns });
      return started?.type === 'ThreadStarted' ? started.data.turns : undefined;
    };
    expect(before()).toEqual([]);
    expect(before(user('one'))).toEqual([]);
    expect(before(user('Hello.\n\none'))).toEqual([user('Hello.')]);
    expect(before(user('a'), assistant('b'), user('c\n\none'))).toEqual([user('a'), assistant('b'), user('c')]);
  });

  test('of a thread that is gone is not recorded, and of a long text the start is', () => {
    expect(() => askQuestion(undefined, identity, { ...owner, newKey: undefined }, asked('one'))).toThrow(
      expect.objectContaining({
        code: 'not_found',
        message: 'There is no such thread, or it belongs to another reader. Leave out "threadId" to begin a new one.',
      }),
    );
    const [event] = askQuestion(begun(), identity, owner, asked('q'.repeat(16_001)));
    expect(event).toMatchObject({ data: { question: 'q'.repeat(16_000) } });
  });

  test('is the last of 500', () => {
    expect(() => checkRoomForQuestion({ ...begun(), turnCount: 499 })).not.toThrow();
    const problem = 'has 500 questions, which is the maximum. Leave out "threadId" to begin a new thread';
    expect(() => checkRoomForQuestion({ ...begun(), turnCount: 500 })).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: `The thread ${problem}.`,
        fields: [{ path: 'threadId', message: problem }],
      }),
    );
  });
});

describe('an answer', () => {
  test('is recorded with the start of its text, unless its thread was erased', () => {
    const { sources, ...rest } = answered();
    expect(recordAnswer(begun(), identity, answered())).toEqual([
      { type: 'QuestionAnswered', version: 1, data: { ...identity, ...rest, sources } },
    ]);
    const long = answered({ question: 'q'.repeat(16_001), answer: 'a'.repeat(64_001) });
    expect(recordAnswer(begun(), identity, long)).toMatchObject([
      { data: { question: 'q'.repeat(16_000), answer: 'a'.repeat(64_000) } },
    ]);
    expect(recordAnswer(undefined, identity, answered())).toEqual([]);
  });

  test('is rated, and again only with another rating or comment', () => {
    const rating = { messageId: 'msg_1', rating: 'up' as const, comment: 'good', answeredAt: time };
    const rate = (before?: Partial<typeof rating>, state: ThreadState | undefined = begun()) =>
      rateAnswer(state, identity, rating, before === undefined ? undefined : { ...rating, ...before });
    expect(rate()).toEqual([{ type: 'AnswerRated', version: 1, data: { ...identity, ...rating } }]);
    expect(rate({})).toEqual([]);
    expect(rate({ comment: 'bad' })).toHaveLength(1);
    expect(rateAnswer(begun(), identity, rating, { ...rating, rating: 'down' })).toHaveLength(1);
    expect(rate(undefined, { ...begun(), ratingCount: 499 })).toHaveLength(1);
    expect(() => rate(undefined, { ...begun(), ratingCount: 500 })).toThrow(
      'The thread has 500 ratings, which is the maximum.',
    );
    expect(() => rateAnswer(undefined, identity, rating, undefined)).toThrow(
      'There is no such answer, or its thread is gone or has another key. Take "threadId" and "messageId" from the stream of the answer.',
    );
  });

  test('that is erased leaves only that it was there', () => {
    const answers = [{ messageId: 'msg_1', answeredAt: time, tokens: 7 }];
    expect(eraseAnswers({ ...identity, threadId: 't_erasure' }, answers)).toEqual([
      { type: 'ThreadErased', version: 1, data: { ...identity, threadId: 't_erasure', answers } },
    ]);
    expect(noSuchThread('record').message).toBe(
      'There is no such thread in this domain. It may have been erased or have expired.',
    );
  });
});

describe('the state of a thread', () => {
  test('counts answers and ratings', () => {
    const start = begun();
    expect(start).toEqual({
      ...identity,
      fingerprintHash: owner.fingerprintHash,
      threadKeySha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      createdAt: time,
      turnCount: 0,
      lastTurns: [],
    });
    const older: ThreadState = { ...start, lastTurns: [user('long before')] };
    const [question] = askQuestion(older, identity, owner, asked('two'));
    const [answer] = recordAnswer(older, identity, answered());
    const [rating] = rateAnswer(older, identity, { messageId: 'msg_1', rating: 'up' }, undefined);
    if (question === undefined || answer === undefined || rating === undefined) throw new Error('nothing happened');
    expect(after(older, question)).toEqual(start);
    expect(after(older, answer)).toEqual({ ...start, turnCount: 1 });
    expect(after(older, rating)).toEqual({ ...start, ratingCount: 1 });
    expect(after(older, rating, rating)).toEqual({ ...start, ratingCount: 2 });
    expect(() => after(undefined, answer)).toThrow('QuestionAnswered comes before the start of the thread t_1.');
  });

  test('of an erasure belongs to nobody', () => {
    const state = after(undefined, ...eraseAnswers(identity, []));
    expect(state).toEqual({
      ...identity,
      fingerprintHash: '0'.repeat(64),
      threadKeySha256: '0'.repeat(64),
      createdAt: time,
      turnCount: 0,
      lastTurns: [],
    });
  });

  test('knows its reader, and its key if one is sent', () => {
    const state = begun();
    expect([undefined, 'the key', 'another'].map((key) => isThreadKey(state, key))).toEqual([true, true, false]);
    expect(mayContinue(state, owner.fingerprintHash, undefined)).toBe(true);
    expect(mayContinue(state, owner.fingerprintHash, 'another')).toBe(false);
    expect(mayContinue(state, 'e'.repeat(64), 'the key')).toBe(false);
    expect(mayContinue(state, 'f', undefined)).toBe(false);
  });

  test('has a fingerprint that only one domain of one installation has', () => {
    const hash = fingerprintHashOf('secret', 'acme', 'docs', 'browser');
    // Every version makes the same hash, so that readers can continue their threads after an upgrade.
    expect(hash).toBe('54fb58bd4e8237a295d81f237d0c8c896394d6566bacfb48f4a4dc6468d9fa8f');
    for (const other of [
      fingerprintHashOf('other', 'acme', 'docs', 'browser'),
      fingerprintHashOf('secret', 'other', 'docs', 'browser'),
      fingerprintHashOf('secret', 'acme', 'other', 'browser'),
      fingerprintHashOf('secret', 'acme', 'docs', 'other'),
    ])
      expect(other).not.toBe(hash);
  });
});

describe('the last turns of a thread', () => {
  const commit = (events: ThreadEvent[], lastTurns: Turn[] = []): ThreadCommit =>
    ({ data: { events, state: { ...begun(), lastTurns } } }) as unknown as ThreadCommit;
  const question = (messageId: string): ThreadEvent => ({
    type: 'QuestionAsked',
    version: 1,
    data: { ...identity, messageId, question: `question ${messageId}` },
  });
  const answer = (messageId: string, text: string): ThreadEvent => ({
    type: 'QuestionAnswered',
    version: 1,
    data: { ...identity, ...answered({ messageId, question: `question ${messageId}`, answer: text }) },
  });
  const lastTurns = async (...oldestFirst: ThreadCommit[]) => {
    let read = 0;
    async function* newestFirst() {
      for (const each of oldestFirst.toReversed()) {
        read += 1;
        yield each;
      }
    }
    const turns = await lastTurnsOf(newestFirst());
    return { turns, read };
  };

  test('have each question once, also without an answer', async () => {
    const rating: ThreadEvent = {
      type: 'AnswerRated',
      version: 1,
      data: { ...identity, messageId: '1', rating: 'up' },
    };
    const { turns } = await lastTurns(
      commit([
        ...askQuestion(undefined, identity, owner, asked('start', user('before'), assistant('said'))).slice(0, 1),
        question('1'),
      ]),
      commit([answer('1', 'answer 1')]),
      commit([rating]),
      commit([...eraseAnswers(identity, [])]),
      commit([question('2')]),
      commit([question('3')]),
      commit([answer('3', '')]),
    );
    expect(turns).toEqual([
      ...[user('before'), assistant('said'), user('question 1'), assistant('answer 1')],
      ...[user('question 2'), assistant('(This question got no answer.)')],
      ...[user('question 3'), assistant('(This question got no answer.)')],
    ]);
  });

  test('are read no further back than they are needed', async () => {
    const long = Array.from({ length: 30 }, (_, n) => commit([answer(String(n), 'a'.repeat(9_000))]));
    const { turns, read } = await lastTurns(...long);
    expect(read).toBe(9);
    expect(turns.at(-2)).toEqual(user('question 29'));
    const older = [user('long before'), assistant('said then')];
    const known = await lastTurns(
      commit([answer('1', 'one')]),
      commit([answer('2', 'two')], older),
      commit([answer('3', 'three')]),
    );
    expect(known).toEqual({ turns: [...older, user('question 3'), assistant('three')], read: 2 });
  });
});
