import { expect, test } from 'vitest';
import { type RankedCandidate, rankPassages } from './rank-passages.ts';

const candidate = (
  order: number,
  path: string,
  text: string,
  more: Partial<RankedCandidate> = {},
): RankedCandidate => ({
  path,
  language: undefined,
  version: undefined,
  boost: 1,
  order,
  terms: { title: [], path: [], heading: [], text: text.split(' ') },
  ...more,
});

const collection = (rare: Record<string, number>) => ({
  passageCount: 100,
  passagesWith: (term: string) => rare[term] ?? 0,
  averageLength: { title: 2, path: 2, heading: 2, text: 5 },
});

const order = (...ranked: Parameters<typeof rankPassages<RankedCandidate>>) =>
  rankPassages(...ranked).map(({ candidate: { path } }) => path);

test('all words once beat one of them repeated', () => {
  const candidates = [candidate(1, 'one', 'key words key words here'), candidate(2, 'both', 'rotate a key every day')];
  expect(order(['rotate', 'key'], candidates, collection({ rotate: 5, key: 5 }))).toEqual(['both', 'one']);
});

test('a word in the title beats the same word in the text', () => {
  const inTitle = candidate(1, 'title', 'a b c d e', {
    terms: { title: ['key'], path: [], heading: [], text: 'a b c d e'.split(' ') },
  });
  expect(order(['key'], [candidate(2, 'text', 'key b c d e'), inTitle], collection({ key: 5 }))[0]).toBe('title');
});

test('a page about the matter beats one that mentions it', () => {
  const candidates = [
    candidate(1, 'mention', 'a key for all of this'),
    candidate(2, 'about', 'a key for all of that'),
    candidate(3, 'about', 'and another key to be made'),
  ];
  expect(order(['key'], candidates, collection({ key: 5 }))[0]).toBe('about');
});

test("pages in the reader's version and language come first; nothing is left out", () => {
  const candidates = [
    candidate(1, 'v1', 'key', { version: 'v1' }),
    candidate(2, 'v2', 'key', { version: 'v2' }),
    candidate(3, 'all', 'key'),
  ];
  const near = { path: 'v2', language: undefined, version: 'v2' };
  expect(order(['key'], candidates, collection({ key: 3 }), near)).toEqual(['v2', 'all', 'v1']);
});

test('scores are within 0–1 whatever the boost, and equal ones keep the order of the index', () => {
  const candidates = [candidate(2, 'b', 'key', { boost: 3 }), candidate(1, 'a', 'key', { boost: 3 })];
  const ranked = rankPassages(['key'], candidates, collection({ key: 1 }));
  expect(ranked.map(({ candidate: { path } }) => path)).toEqual(['a', 'b']);
  for (const { score } of ranked) expect(score).toBeLessThanOrEqual(1);
});

test('nothing to match gives nothing', () => {
  expect(rankPassages([], [candidate(1, 'a', 'key')], collection({}))).toEqual([]);
  expect(rankPassages(['other'], [candidate(1, 'a', 'key')], collection({}))).toEqual([]);
});
