import { beforeEach, describe, expect, test } from 'vitest';
import type { ThreadCommit } from '#shared/aggregates/thread/thread.ts';
import { type InsightAnswer, insightOrder } from '#shared/contracts/insights.ts';
import { threadWriter } from '../../test/support/make-thread.ts';
import { memoryLog, type MemoryLog } from '../../test/support/memory-log.ts';
import { usageOfAnswers } from './conversation-projection.ts';
import { withEntries } from './day-list.ts';
import { insightAnswerKind, insightAnswers, insightFigures } from './insight-answers.ts';

const day = '2026-03-01';
const at = (minute: number) => `${day}T10:${String(minute).padStart(2, '0')}:00.000Z`;

let log: MemoryLog<ThreadCommit>;
let docs: ReturnType<typeof threadWriter>;
beforeEach(() => {
  log = memoryLog(async () => {});
  docs = threadWriter(log);
});

/** What is known after these commits, in this order. */
const folded = (commits: readonly ThreadCommit[]): InsightAnswer[] =>
  commits
    .flatMap(insightAnswers)
    .reduce<InsightAnswer[][]>((parts, entry) => withEntries(parts, [entry], insightAnswerKind), [])
    .flat();
const commits = () => log.stored.map(({ commit }) => commit);

/** Two threads: one with an answer that was rated twice and one that the documentation does not have; one that was erased. */
async function conversations(): Promise<void> {
  await docs.answered('th_1', at(1), { messageId: 'msg_1' });
  await docs.rated('th_1', at(2), { messageId: 'msg_1', answeredAt: at(1), rating: 'up' });
  await docs.answered('th_1', at(3), { messageId: 'msg_2', question: 'Can I pay by invoice?', unanswered: true });
  await docs.rated('th_1', at(4), {
    messageId: 'msg_1',
    answeredAt: at(1),
    rating: 'down',
    comment: 'It is not there.',
  });
  await docs.answered('th_2', at(5), { messageId: 'msg_3', question: 'My secret question' });
  await docs.rated('th_2', at(6), { messageId: 'msg_3', answeredAt: at(5), rating: 'down', comment: 'secret, too' });
  await docs.erased('er_1', at(7), [{ messageId: 'msg_3', answeredAt: at(5), tokens: 10 }]);
}

describe('what commits say of answers', () => {
  test('is the same in every order and however often they come', async () => {
    await conversations();
    const inOrder = commits();
    const expected = folded(inOrder);
    expect(expected.map(({ messageId }) => messageId)).toEqual(['msg_1', 'msg_2', 'msg_3']);
    const orders = [
      inOrder.toReversed(),
      [...inOrder, ...inOrder],
      ...inOrder.map((_, cut) => [...inOrder.slice(cut), ...inOrder.slice(0, cut)]),
      ...inOrder.map((one) => [...inOrder, one]),
      ...inOrder.map((one) => [one, ...inOrder]),
    ];
    for (const order of orders) expect(folded(order)).toEqual(expected);
    expect(insightFigures(expected.toReversed())).toEqual(insightFigures(expected));
  });

  test('is nothing of an erased thread but that there was an answer and what it cost', async () => {
    await conversations();
    const answers = folded(commits());
    expect(answers[2]).toEqual({ messageId: 'msg_3', answeredAt: at(5), tokens: 10, erased: true });
    expect(JSON.stringify([answers, insightFigures(answers)])).not.toContain('secret');
    expect(insightFigures(answers)).toMatchObject({ questions: 2, down: 1 });
    expect(usageOfAnswers(answers)).toEqual({ questions: 3, tokens: 30 });
  });

  test('counts an answer without its commit for nothing', async () => {
    await docs.answered('th_1', at(1), { messageId: 'msg_1' });
    const rated = await docs.rated('th_1', at(2), { messageId: 'msg_1', answeredAt: at(1), rating: 'up' });
    expect(insightFigures(folded([rated]))).toMatchObject({ questions: 0, up: 0, pages: [] });
    expect(usageOfAnswers(folded([rated]))).toEqual({});
  });

  test('leaves out a rating that does not say when the answer was recorded', async () => {
    await docs.answered('th_1', at(1), { messageId: 'msg_1' });
    const rated = await docs.rated('th_1', at(2), { messageId: 'msg_1', rating: 'up' });
    expect(insightAnswers(rated)).toEqual([]);
  });

  test('stays small, however long questions, comments and lists of sources are', async () => {
    const long = 'ウ'.repeat(5_000);
    const sources = Array.from({ length: 60 }, (_, n) => ({ path: `/${'é'.repeat(150)}${n}`, title: long }));
    for (let n = 0; n < insightAnswerKind.size; n += 1) {
      const time = at(n % 60);
      await docs.answered(`th_${n}`, time, { messageId: `msg_${n}`, question: `${n} ${long}`, sources });
      await docs.rated(`th_${n}`, time, { messageId: `msg_${n}`, answeredAt: time, rating: 'down', comment: long });
    }
    const answers = folded(commits());
    expect(answers).toHaveLength(insightAnswerKind.size);
    expect(Buffer.byteLength(JSON.stringify({ entries: answers }))).toBeLessThan(700_000);
  });
});

describe('the figures of a day', () => {
  test('have questions without an answer by their words, the most frequent first, with the newest wording', async () => {
    const unanswered = [
      'How do I set up SSO?',
      'Can I pay by invoice?',
      'SSO: set up?',
      'set up sso',
      'Paying by invoices?',
    ];
    for (const [n, question] of unanswered.entries()) {
      await docs.answered(`th_${n}`, at(n), { messageId: `msg_${n}`, question, unanswered: true, sources: [] });
    }
    expect(insightFigures(folded(commits())).gaps).toMatchObject([
      { question: 'set up sso', count: 3, threadId: 'th_3', lastAskedAt: at(3) },
      { question: 'Paying by invoices?', count: 2, threadId: 'th_4' },
    ]);
  });

  test('have pages by the answers that rest on them, each answer once, with what readers thought of those', async () => {
    const keys = (anchor: string) => ({ path: `/guides/keys#${anchor}`, title: `API keys › ${anchor}` });
    const start = { path: '/start', title: 'Start' };
    await docs.answered('th_1', at(1), { messageId: 'msg_1', sources: [keys('a'), keys('b'), start] });
    await docs.answered('th_2', at(2), { messageId: 'msg_2', sources: [keys('c')] });
    await docs.answered('th_3', at(3), { messageId: 'msg_3', sources: [start], unanswered: true });
    await docs.answered('th_4', at(4), { messageId: 'msg_4', sources: [start], aborted: true });
    await docs.rated('th_2', at(5), { messageId: 'msg_2', answeredAt: at(2), rating: 'up' });
    const figures = insightFigures(folded(commits()));
    expect(figures).toMatchObject({ questions: 4, answered: 2, unanswered: 1, unfinished: 1, up: 1, down: 0 });
    expect(figures.pages).toEqual([
      { path: '/guides/keys', title: 'API keys', answers: 2, up: 1, down: 0 },
      { path: '/start', title: 'Start', answers: 1, up: 0, down: 0 },
    ]);
  });

  test('have the answers that were rated down, newest first', async () => {
    await conversations();
    expect(insightFigures(folded(commits())).ratedDown).toEqual([
      {
        question: 'How do I rotate an API key?',
        comment: 'It is not there.',
        threadId: 'th_1',
        messageId: 'msg_1',
        answeredAt: at(1),
      },
    ]);
  });

  test('do not grow beyond a document', () => {
    const answers = Array.from({ length: 3_000 }, (_, n): InsightAnswer => {
      const path = `/${String(n).padStart(199, 'p')}`;
      const status = n % 2 === 0 ? ('unanswered' as const) : ('answered' as const);
      const said = {
        threadId: `th_${n}`,
        question: `${n} ${'ウ'.repeat(290)}`,
        status,
        pages: [{ path, title: 'T'.repeat(100) }],
      };
      const rated = { rating: 'down', comment: 'ウ'.repeat(500), revision: 3 } as const;
      return { messageId: `msg_${n}`, answeredAt: at(n % 60), tokens: 1, said, rated };
    });
    const figures = insightFigures(answers);
    expect(figures.questions).toBe(3_000);
    expect(Buffer.byteLength(JSON.stringify(figures))).toBeLessThan(950_000);
    expect(answers.map(insightOrder)).toHaveLength(3_000);
  });
});
