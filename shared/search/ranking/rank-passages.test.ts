import { expect, test } from 'vitest';
import type { SearchedQuery } from './query-words.ts';
import { type Candidate, type CandidatePage, type Near, rankPassages } from './rank-passages.ts';

const page = (path: string, more: Partial<CandidatePage> = {}): CandidatePage => ({
  path,
  language: undefined,
  version: undefined,
  boost: 1,
  title: [],
  names: [],
  keywords: [],
  pathTerms: [],
  textLength: 5,
  links: [],
  linkedFrom: 0,
  ...more,
});

const passage = (of: CandidatePage, text: string, more: Partial<Candidate> = {}): Candidate => {
  const terms = text.split(' ');
  const counts = new Map([...new Set(terms)].map((term) => [term, terms.filter((one) => one === term).length]));
  return { page: of, heading: [], text: counts, textLength: terms.length, position: 0, ...more };
};

const asked = (...words: string[]): SearchedQuery => ({
  words: words.map((word) => ({ word, terms: new Map([[word, 1]]), idf: 3 })),
  title: words,
});

const collection = { averageLength: { title: 2, path: 2, heading: 2, text: 5 }, averagePageLength: 10 };

const order = (query: SearchedQuery, candidates: Candidate[], near?: Near): string[] =>
  rankPassages(query, candidates, collection, near).map(({ candidate }) => candidate.page.path);

test('all words once beat one of them repeated', () => {
  const candidates = [
    passage(page('one'), 'key words key words here'),
    passage(page('both'), 'rotate a key every day'),
  ];
  expect(order(asked('rotate', 'key'), candidates)).toEqual(['both', 'one']);
});

test('a word in the title beats the same word in the text', () => {
  const candidates = [passage(page('text'), 'key b c d e'), passage(page('title', { title: ['key'] }), 'a b c d e')];
  expect(order(asked('key'), candidates)[0]).toBe('title');
});

test('a page about the subject beats one that mentions it', () => {
  const about = page('about', { textLength: 14 });
  const candidates = [
    passage(page('mention', { textLength: 7 }), 'a key for all of this'),
    passage(about, 'a key for all of that'),
    passage(about, 'and another key to be made', { position: 1 }),
  ];
  expect(order(asked('key'), candidates)[0]).toBe('about');
});

test('the names that other pages use find a page without these words', () => {
  const called = page('called', { links: [['rotate', 'key']], linkedFrom: 1 });
  expect(order(asked('rotate', 'key'), [passage(page('other'), 'nothing of it'), passage(called, 'nothing')])).toEqual([
    'called',
  ]);
});

test('a link whose words are mostly about something else counts less', () => {
  const vague = page('vague', { links: [['all', 'about', 'key', 'and', 'much', 'more']] });
  const exact = page('exact', { links: [['key']] });
  expect(order(asked('key'), [passage(vague, 'a'), passage(exact, 'b')])).toEqual(['exact', 'vague']);
});

test('a page with the question as its title comes first', () => {
  const named = page('named', { title: ['rotate', 'key'] });
  const linked = page('linked', { links: [['rotate', 'key']], linkedFrom: 20 });
  const candidates = [passage(linked, 'rotate key rotate key rotate'), passage(named, 'short')];
  expect(order(asked('rotate', 'key'), candidates)[0]).toBe('named');
});

test('a synonym counts less than the word itself', () => {
  const query: SearchedQuery = {
    words: [
      {
        word: 'delet',
        terms: new Map([
          ['delet', 1],
          ['remov', 0.6],
        ]),
        idf: 3,
      },
    ],
    title: ['delet'],
  };
  const candidates = [passage(page('synonym'), 'remov it a b c'), passage(page('word'), 'delet it a b c')];
  expect(order(query, candidates)).toEqual(['word', 'synonym']);
});

test("pages in the reader's version and language come first; no page is left out", () => {
  const candidates = [
    passage(page('v1', { version: 'v1' }), 'key'),
    passage(page('v2', { version: 'v2' }), 'key'),
    passage(page('all'), 'key'),
  ];
  expect(order(asked('key'), candidates, { path: 'v2', language: undefined, version: 'v2' })).toEqual([
    'v2',
    'all',
    'v1',
  ]);
});

test('scores are within 0–1 whatever the boost; equal ones are in the order of their paths', () => {
  const candidates = [passage(page('b', { boost: 3 }), 'key'), passage(page('a', { boost: 3 }), 'key')];
  const ranked = rankPassages(asked('key'), candidates, collection);
  expect(ranked.map(({ candidate }) => candidate.page.path)).toEqual(['a', 'b']);
  for (const { score } of ranked) {
    expect(score).toBeGreaterThan(0);
    expect(score).toBeLessThanOrEqual(1);
  }
});

test('a question that pages cover badly scores lower', () => {
  const one = rankPassages(asked('key'), [passage(page('a'), 'key')], collection)[0]?.score ?? 0;
  const little = rankPassages(asked('key', 'x', 'y', 'z'), [passage(page('a'), 'key')], collection)[0]?.score ?? 1;
  expect(little).toBeLessThan(one);
});

test('the contribution of each signal is returned', () => {
  const [found] = rankPassages(
    asked('key'),
    [passage(page('a', { title: ['key'], links: [['key']], linkedFrom: 2 }), 'key')],
    collection,
  );
  expect(found?.signals).toMatchObject({ exactTitle: 2.4, bestLink: expect.any(Number) });
  expect(Object.values(found?.signals ?? {}).every((value) => value >= 0)).toBe(true);
});

test('nothing to match gives nothing', () => {
  expect(order(asked(), [passage(page('a'), 'key')])).toEqual([]);
  expect(order(asked('other'), [passage(page('a'), 'key')])).toEqual([]);
});

test('meaning counts beside words, and orders passages without any of them', () => {
  const candidates = [
    passage(page('word'), 'a key for all of this'),
    passage(page('near'), 'b c d e f', { meaning: 0.9 }),
    passage(page('both'), 'another key to be made', { meaning: 0.4 }),
    passage(page('far'), 'b c d e f', { meaning: 0.3 }),
  ];
  expect(order(asked('key'), candidates)).toEqual(['both', 'near', 'word', 'far']);
  const [, near, far] = rankPassages(asked('token'), candidates, collection);
  expect([near?.candidate.page.path, far?.candidate.page.path]).toEqual(['both', 'far']);
  expect(near?.score).toBeGreaterThan(far?.score ?? 1);
});

test('on a page that is found by its meaning, the nearest passage comes first', () => {
  const one = page('one');
  const candidates = [
    passage(one, 'b c d e f', { meaning: 0.3 }),
    passage(one, 'g h i j k', { meaning: 0.8, position: 1 }),
    passage(one, 'l m n o p', { position: 2 }),
  ];
  const ranked = rankPassages(asked('key'), candidates, collection);
  expect(ranked.map(({ candidate }) => candidate.position)).toEqual([1, 0, 2]);
});

test('stop words count neither in names nor in the order of the question', () => {
  const question = { ...asked('stop'), title: ['how', 'do', 'i', 'stop', 'it'] };
  const candidates = [
    passage(page('long', { title: ['stop', 'event', 'listener'] }), 'stop'),
    passage(page('called', { title: ['how', 'to', 'stop', 'it'] }), 'stop'),
  ];
  expect(order(question, candidates)).toEqual(['called', 'long']);
  const [called] = rankPassages(question, candidates, collection);
  expect(called?.signals).toMatchObject({ exactTitle: 1.2, title: 0.5 });
});

test('a page that welcomes to something, or introduces it, is about that subject', () => {
  const candidates = [
    passage(page('mention', { title: ['key', 'update'] }), 'key key key'),
    passage(page('about', { title: ['welcom', 'to', 'key'] }), 'key'),
  ];
  expect(order({ ...asked('key'), title: ['what', 'is', 'key'] }, candidates)[0]).toBe('about');
});
