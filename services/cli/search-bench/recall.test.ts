import { expect, test } from 'vitest';
import { askQuestions, recallTable } from './recall.ts';

test('shares and percentiles by kind, and of all', () => {
  const table = recallTable();
  for (const [rank, ms] of [
    [1, 10],
    [2, 20],
    [6, 30],
    [0, 40],
  ] as const)
    table.add('title', rank, ms);
  table.add('link-text', 1, 5);
  expect(table.rows()).toEqual([
    {
      ...{ kind: 'title', questions: 4, recallAt1: 0.25, recallAt5: 0.5 },
      meanReciprocalRank: expect.closeTo((1 + 1 / 2 + 1 / 6) / 4),
      ...{ p50Ms: 30, p99Ms: 40 },
    },
    { kind: 'link-text', questions: 1, recallAt1: 1, recallAt5: 1, meanReciprocalRank: 1, p50Ms: 5, p99Ms: 5 },
  ]);
  expect(table.whole()).toMatchObject({ kind: 'all', questions: 5, recallAt1: 0.4, recallAt5: 0.6 });
  expect(table.text().split('\n')[1]).toMatch(/^title +4 +0\.250 +0\.500 +0\.417 +30\.0 +40\.0$/);
});

test('questions are asked one after the other, and those without their page are named', async () => {
  const questions = [
    { query: 'a', pages: ['x', 'y'], exclude: [], kind: 'k' },
    { query: 'b', pages: ['z'], exclude: [], kind: 'k' },
  ];
  const { table, missed } = await askQuestions(questions, async ({ query }) =>
    query === 'a' ? ['w', 'y'] : ['1', '2', '3', '4'],
  );
  expect(table.rows()).toMatchObject([{ questions: 2, recallAt1: 0, recallAt5: 0.5, meanReciprocalRank: 0.25 }]);
  expect(missed).toEqual([{ kind: 'k', query: 'b', pages: ['z'], found: ['1', '2', '3'] }]);
});
