import { beforeEach, expect, test } from 'vitest';
import type { AnsweredQuestion, AskedQuestion } from '#shared/aggregates/thread/decide.ts';
import type { ThreadCommit, Turn } from '#shared/aggregates/thread/thread.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { testCaller } from '../../test/support/make-commit.ts';
import { memoryLog, type MemoryLog } from '../../test/support/memory-log.ts';
import { threadView } from './thread-view.ts';
import { type Thread, type Threads, threads } from './threads.ts';

const owner = 'f'.repeat(64);

let log: MemoryLog<ThreadCommit>;
let stored: Threads;
let thread: Thread;

beforeEach(() => {
  log = memoryLog(async () => {});
  stored = threads({ ...log, checkBudget: async () => {} }, systemClock, randomBase62);
  thread = stored.begin('acme', 'docs', owner);
});

const answered = (question: string, changes: Partial<AnsweredQuestion> = {}): AnsweredQuestion => ({
  messageId: `msg_${question}`,
  question,
  answer: `Answer to ${question}`,
  sources: [],
  unanswered: false,
  aborted: false,
  model: 'test',
  tokens: 7,
  ...changes,
});

const resumed = () => stored.resume(thread, owner, undefined);
const begin = async (question: string, turns: AskedQuestion['turns'] = [{ role: 'user', text: question }]) =>
  stored.ask(
    log.stored.length === 0 ? thread : await resumed(),
    { messageId: `msg_${question}`, question, turns },
    testCaller,
  );
const ask = async (
  question: string,
  { turns, ...changes }: Partial<AnsweredQuestion & Pick<AskedQuestion, 'turns'>> = {},
) => stored.record(await begin(question, turns), answered(question, changes), testCaller);
const rate = (messageId: string, rating: 'up' | 'down', comment?: string) =>
  stored.rate(thread, { messageId, rating, comment }, undefined, testCaller);

/** Bytes that were stored after the first `since` commits. */
const storedBytes = (since: number) =>
  log.stored.slice(since).reduce((sum, { commit }) => sum + JSON.stringify(commit).length, 0);

/** A thread with 60 KB of earlier turns. */
const longBefore: Turn[] = Array.from({ length: 20 }, (_, at) => ({
  role: at % 2 === 0 ? 'user' : 'assistant',
  text: `${at} `.repeat(1_000),
}));

test('a rating stores what was said about one answer, however long the thread is', async () => {
  await ask('one', { turns: [...longBefore, { role: 'user', text: 'one' }] });
  await ask('two');
  for (let count = 0; count < 60; count += 1) await rate('msg_one', count % 2 === 0 ? 'up' : 'down');
  expect(log.stored).toHaveLength(64);
  expect(storedBytes(4)).toBeLessThan(60 * 1_500);
});

test('a question stores itself and its answer, however long the thread is', async () => {
  await ask('one', { turns: [...longBefore, { role: 'user', text: 'one' }] });
  for (let count = 0; count < 20; count += 1) await ask(`more ${count}`);
  expect(storedBytes(2)).toBeLessThan(20 * 2_500);
});

test('the same rating again is the same rating', async () => {
  await ask('one');
  await rate('msg_one', 'down', 'wrong');
  await rate('msg_one', 'down', 'wrong');
  expect(log.stored).toHaveLength(3);
  await rate('msg_one', 'up');
  await rate('msg_one', 'down', 'wrong');
  expect(log.stored).toHaveLength(5);
  await expect(rate('msg_two', 'up')).rejects.toThrow('There is no such answer');
});

test('a thread goes on with what was said, also after ratings', async () => {
  await ask('one', {
    turns: [
      { role: 'user', text: 'before' },
      { role: 'assistant', text: 'said' },
      { role: 'user', text: 'one' },
    ],
  });
  await rate('msg_one', 'up');
  await ask('two', { answer: '' });
  await ask('three');
  expect(await stored.turns(await resumed())).toEqual([
    { role: 'user', text: 'before' },
    { role: 'assistant', text: 'said' },
    { role: 'user', text: 'one' },
    { role: 'assistant', text: 'Answer to one' },
    { role: 'user', text: 'two' },
    { role: 'assistant', text: '(This question got no answer.)' },
    { role: 'user', text: 'three' },
    { role: 'assistant', text: 'Answer to three' },
  ]);
});

test('the newest turns of a long thread count', async () => {
  await ask('one', { turns: [...longBefore, { role: 'user', text: 'one' }] });
  for (let count = 0; count < 30; count += 1) await ask(`${count}`, { answer: 'a'.repeat(5_000) });
  const turns = await stored.turns(await resumed());
  expect(turns.at(-2)).toEqual({ role: 'user', text: '29' });
  expect(turns[0]?.role).toBe('user');
  expect(JSON.stringify(turns).length).toBeLessThan(70_000);
});

test('turns that are added during an erasure are erased too', async () => {
  await ask('one');
  let isFirst = true;
  const addedMeanwhile: MemoryLog<ThreadCommit> = {
    ...log,
    async purge(...purged) {
      if (isFirst) await ask('two');
      isFirst = false;
      await log.purge(...purged);
    },
  };
  stored = threads({ ...addedMeanwhile, checkBudget: async () => {} }, systemClock, randomBase62);
  await stored.erase(thread, testCaller);
  const forgotten = log.stored.flatMap(({ commit }) =>
    commit.data.events.flatMap((event) => (event.type === 'ThreadErased' ? event.data.answers : [])),
  );
  expect(forgotten.map(({ messageId }) => messageId)).toEqual(['msg_one', 'msg_two']);
  expect(JSON.stringify(log.stored)).not.toContain('Answer to');
});

test('a thread ends at 500 questions and 500 ratings, and says what to do', async () => {
  await ask('one');
  const last = log.stored.at(-1);
  if (last === undefined) throw new Error('nothing was stored');
  Object.assign(last.commit.data.state, { turnCount: 500, ratingCount: 500 });
  await expect(resumed()).rejects.toThrow('Leave out "threadId"');
  await expect(rate('msg_one', 'up')).rejects.toThrow('500 ratings');
});

test('a thread goes on from an older commit, which has the turns in its state', async () => {
  await ask('one');
  const older = log.stored.at(-1)?.commit;
  if (older === undefined) throw new Error('nothing was stored');
  older.data.state.lastTurns = [
    { role: 'user', text: 'long before' },
    { role: 'assistant', text: 'said then' },
  ];
  older.data.events = [];
  await ask('two');
  expect((await stored.turns(await resumed())).map(({ text }) => text)).toEqual([
    ...['long before', 'said then', 'two', 'Answer to two'],
  ]);
});

test('a question whose answer was lost stays, and the next one is a question of its own', async () => {
  await ask('one');
  await begin('two');
  await ask('three');
  expect((await stored.turns(await resumed())).map(({ text }) => text)).toEqual([
    ...['one', 'Answer to one', 'two', '(This question got no answer.)', 'three', 'Answer to three'],
  ]);
  const timeoutMs = 1_000;
  const statuses = async (at: Date) =>
    threadView(await stored.history(thread), at, timeoutMs).messages.map(({ question, status }) => [question, status]);
  const now = new Date();
  const later = new Date(now.getTime() + timeoutMs + 1);
  expect(await statuses(now)).toContainEqual(['two', 'answering']);
  expect(await statuses(later)).toEqual([
    ['one', 'answered'],
    ['two', 'unfinished'],
    ['three', 'answered'],
  ]);
});

test('a thread that is erased is gone from the log, also for an answer that was on its way', async () => {
  await ask('one');
  const goesOn = await resumed();
  const open = await begin('two');
  await stored.erase(thread, testCaller);
  await stored.record(open, answered('two'), testCaller);
  const left = { messageId: 'msg_one', answeredAt: expect.any(String), tokens: 7 };
  expect(log.stored).toMatchObject([{ commit: { data: { events: [{ data: { answers: [left] } }] } } }]);
  for (const gone of [thread.threadId, owner, 'Answer to', 'two'])
    expect(JSON.stringify(log.stored)).not.toContain(gone);
  const asked = { messageId: 'msg_three', question: 'three', turns: [] };
  await expect(stored.ask(goesOn, asked, testCaller)).rejects.toThrow('no such thread');
  await expect(resumed()).rejects.toThrow('no such thread');
  await expect(stored.erase(thread, testCaller)).rejects.toThrow('no such thread in this domain');
});
