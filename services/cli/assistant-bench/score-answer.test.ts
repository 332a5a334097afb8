import { expect, test } from 'vitest';
import { scoreAnswer } from './score-answer.ts';

test('the first right page among the sources, the further pages and the other links counts', () => {
  const text = 'Press it as [the overview](/overview) says.\n\n[Keys](/keys#rotate)\n\nSee also [Audit](/audit).';
  const ranks = (pages: string[]) =>
    scoreAnswer({ query: 'q', parts: [pages] }, { text, sources: [{ url: '/keys#rotate' }] }).rank;
  expect([['/keys'], ['/audit'], ['/overview', '/x'], ['/x']].map(ranks)).toEqual([1, 2, 3, 0]);
  expect(scoreAnswer({ query: 'q', parts: [['/']] }, { text: '', sources: [{ url: '/index' }] }).rank).toBe(1);
  expect(scoreAnswer({ query: 'q', parts: [['/a']] }, { text: '', sources: [{ url: '/a/index#b' }] }).rank).toBe(1);
});

test('each part needs a right page below it, except in "See also"', () => {
  const sources = [{ url: '/a' }, { url: '/b#c' }];
  const parts = [['/a'], ['/b']];
  const score = (text: string) => scoreAnswer({ query: 'q', parts }, { text, sources }).parts;
  expect(score('**One?**\n\nIt is **big**.\n\n[A](/a)\n\n**Two?**\n\nSmall. [B](/b#c)')).toEqual([true, true]);
  expect(score('**One?**\n\n[A](/a)\n\n**Two?**\n\n[A](/a)\n\nSee also [B](/b#c).')).toEqual([true, false]);
  expect(score('**One?**\\\n**Two?**\n\n[A](/a)')).toEqual([true, false]);
  expect(score('One sentence for both: [A](/a), [B](/b#c).')).toEqual([true, true]);
});

test('an answer that says that there is none is refused', () => {
  const score = (text: string) => scoreAnswer({ query: 'q', parts: [] }, { text, sources: [] }).isRefused;
  expect(score('This is not in the documentation.')).toBe(true);
  expect(score('It is 12.')).toBe(false);
});
