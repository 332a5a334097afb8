import pino from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ThreadCommit } from '#shared/aggregates/thread/thread.ts';
import { type InsightAnswer, insightOrder } from '#shared/contracts/insights.ts';
import { type ReadModels, storesOf } from '#shared/messaging/read-models.ts';
import { threadWriter } from '../../test/support/make-thread.ts';
import { type MemoryBus, memoryBus } from '../../test/support/memory-bus.ts';
import { memoryLog, type MemoryLog } from '../../test/support/memory-log.ts';
import { withEntries } from './day-list.ts';
import { bufferedReadModels, documentMemory } from './buffered-store.ts';
import { conversationProjection } from './conversation-projection.ts';
import {
  insightAnswerKind,
  insightAnswers,
  insightBlock,
  insightFigures,
  partsOfBlock,
  usageOfBlocks,
} from './insight-answers.ts';

const day = '2026-03-01';
const at = (minute: number) => `${day}T10:${String(minute).padStart(2, '0')}:00.000Z`;

let log: MemoryLog<ThreadCommit>;
let docs: ReturnType<typeof threadWriter>;
beforeEach(() => {
  log = memoryLog(async () => {});
  docs = threadWriter(log);
});

/** The answers that these commits give, in this order. */
const folded = (commits: readonly ThreadCommit[]): InsightAnswer[] =>
  commits
    .flatMap(insightAnswers)
    .reduce<InsightAnswer[][]>((parts, entry) => withEntries(parts, [entry], insightAnswerKind), [])
    .flat();
const figuresOf = (answers: readonly InsightAnswer[]) => insightFigures([insightBlock(answers)]);
const usageOf = (answers: readonly InsightAnswer[]) => usageOfBlocks([insightBlock(answers)]);
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

describe('the answers in commits', () => {
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
    expect(figuresOf(expected.toReversed())).toEqual(figuresOf(expected));
  });

  test('is nothing of an erased thread but that there was an answer and what it cost', async () => {
    await conversations();
    const answers = folded(commits());
    expect(answers[2]).toEqual({ messageId: 'msg_3', answeredAt: at(5), tokens: 10, erased: true });
    expect(JSON.stringify([answers, figuresOf(answers)])).not.toContain('secret');
    expect(figuresOf(answers)).toMatchObject({ questions: 2, down: 1 });
    expect(usageOf(answers)).toEqual({ questions: 3, tokens: 30 });
  });

  test('counts an answer without its commit for nothing', async () => {
    await docs.answered('th_1', at(1), { messageId: 'msg_1' });
    const rated = await docs.rated('th_1', at(2), { messageId: 'msg_1', answeredAt: at(1), rating: 'up' });
    expect(figuresOf(folded([rated]))).toMatchObject({ questions: 0, up: 0, pages: [] });
    expect(usageOf(folded([rated]))).toEqual({});
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
    expect(figuresOf(folded(commits())).gaps).toMatchObject([
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
    const figures = figuresOf(folded(commits()));
    expect(figures).toMatchObject({ questions: 4, answered: 2, unanswered: 1, unfinished: 1, up: 1, down: 0 });
    expect(figures.pages).toEqual([
      { path: '/guides/keys', title: 'API keys', answers: 2, up: 1, down: 0 },
      { path: '/start', title: 'Start', answers: 1, up: 0, down: 0 },
    ]);
  });

  test('have the answers that were rated down, newest first', async () => {
    await conversations();
    expect(figuresOf(folded(commits())).ratedDown).toEqual([
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
    const figures = figuresOf(answers);
    expect(figures.questions).toBe(3_000);
    expect(Buffer.byteLength(JSON.stringify(figures))).toBeLessThan(950_000);
    const ofBlock = answers.slice(0, partsOfBlock * insightAnswerKind.size);
    expect(Buffer.byteLength(JSON.stringify(insightBlock(ofBlock)))).toBeLessThan(950_000);
    expect(answers.map(insightOrder)).toHaveLength(3_000);
  });
});

describe('a day with more answers than a block has', () => {
  const blockSize = partsOfBlock * insightAnswerKind.size;
  let bus: MemoryBus;
  let reads: string[];
  beforeEach(() => {
    bus = memoryBus();
    reads = [];
  });

  /** The read models of a process without a cache, which records the documents that it reads, and dies after `mostWrites` writes. */
  function watched(mostWrites: number): ReadModels {
    let writes = 0;
    const entries = Object.entries(bus.generations.blue).map(([name, each]) => {
      const store = each as ReadModels['insightFigures'];
      const get: typeof store.get = (key) => {
        reads.push(`${name} ${key}`);
        return store.get(key);
      };
      const put: typeof store.put = async (...document) => {
        writes += 1;
        if (writes > mostWrites) throw new Error('The process was killed.');
        return store.put(...document);
      };
      return [name, { ...store, get, put }];
    });
    return Object.fromEntries(entries) as ReadModels;
  }

  async function fold(some: readonly ThreadCommit[], mostWrites = Infinity): Promise<void> {
    reads = [];
    const buffered = bufferedReadModels(watched(mostWrites), documentMemory(1));
    const batch = conversationProjection.into(buffered.models, bus, {
      auditKey: '',
      logger: pino({ level: 'silent' }),
    });
    for (const commit of some) await batch.fold(commit);
    await batch.finish();
    await buffered.flush(storesOf.conversations);
  }

  async function answers(count: number): Promise<ThreadCommit[]> {
    const answered: ThreadCommit[] = [];
    for (let n = 0; n < count; n += 1) {
      const unanswered = n % 7 === 0;
      const time = new Date(Date.parse(`${day}T00:00:00.000Z`) + n * 1_000).toISOString();
      const said = { messageId: `msg_${n}`, question: `How do I rotate key ${n % 11}?`, unanswered };
      answered.push(await docs.answered(`th_${n}`, time, said));
    }
    return answered;
  }

  /** The figures of all stored answers, as if they were one block. */
  async function whole() {
    const { document } = (await bus.generations.blue.insightAnswerDays.get('acme/docs')) ?? {};
    const parts = Array.from({ length: document?.months['2026-03']?.['01'] ?? 0 }, (_, part) =>
      bus.generations.blue.insightAnswers.get(`acme/docs.${day}.${part}`),
    );
    return figuresOf((await Promise.all(parts)).flatMap((part) => part?.document.entries ?? []));
  }
  const figures = async () => (await bus.generations.blue.insightFigures.get(`acme/docs.${day}`))?.document;
  const used = async () =>
    (await bus.generations.blue.usageConversations.get('acme/docs.2026-03'))?.document.days['01'];

  test('comes to the same, in whatever batches answers, ratings and erasures come', async () => {
    const all = await answers(blockSize * 2 + 30);
    const rated = await docs.rated('th_3', at(1), {
      messageId: 'msg_3',
      answeredAt: all[3]?.time ?? '',
      rating: 'down',
      comment: 'No.',
    });
    const erased = await docs.erased('er_1', at(2), [
      { messageId: 'msg_7', answeredAt: all[7]?.time ?? '', tokens: 10 },
    ]);
    await fold(all.slice(0, blockSize - 1));
    await fold([...all.slice(blockSize + 20), rated]);
    await fold(all.slice(blockSize - 1, blockSize + 20));
    await fold([erased]);
    expect(await figures()).toEqual(await whole());
    expect(await figures()).toMatchObject({ questions: all.length - 1, down: 1 });
    expect(await used()).toEqual({ questions: all.length, tokens: all.length * 10 });
    const documents = JSON.stringify(await bus.generations.blue.insightBlocks.get(`acme/docs.${day}.0`));
    expect([documents.includes('th_3'), documents.includes('th_7"')]).toEqual([true, false]);
  });

  test('costs one more answer no more reads of answers than a block has, and one read of each block before', async () => {
    const all = await answers(blockSize * 3 + 1);
    await fold(all.slice(0, -1));
    await fold(all.slice(-1));
    await fold(all.slice(-1));
    const parts = new Set(reads.filter((read) => read.startsWith('insightAnswers ')));
    // A binary search in the day finds the block.
    expect(parts.size).toBeLessThanOrEqual(partsOfBlock + Math.ceil(Math.log2(all.length)));
    expect(reads.filter((read) => read.startsWith('insightBlocks '))).toHaveLength(3);
    expect(await figures()).toEqual(await whole());
  });

  test('comes to the same when a process dies between any two writes, and answers come again, alone or together', async () => {
    const all = await answers(blockSize + 40);
    const missing = [all[5], all[blockSize + 3]].filter((one) => one !== undefined);
    const others = all.filter((one) => !missing.includes(one));
    let wasKilled = true;
    for (let writes = 0; wasKilled; writes += 1) {
      bus = memoryBus();
      await fold(others);
      wasKilled = await fold(missing, writes).then(
        () => false,
        () => true,
      );
      if (writes % 2 === 0) await fold(missing);
      else for (const one of missing) await fold([one]);
      expect(await figures()).toEqual(await whole());
      expect(await used()).toMatchObject({ questions: all.length });
    }
  });

  test('is counted again where a block is missing', async () => {
    const all = await answers(blockSize * 2 + 2);
    await fold(all.slice(0, -1));
    await bus.generations.blue.insightBlocks.remove(`acme/docs.${day}.0`);
    await fold(all.slice(-1));
    expect(await figures()).toEqual(await whole());
  });
});
