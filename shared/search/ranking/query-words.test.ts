import { expect, test } from 'vitest';
import { searchedQuery } from './query-words.ts';

test('in a question full of words that no page has, only the first ones count as typos', async () => {
  const asked: string[] = [];
  const words = Array.from({ length: 30 }, (_, at) => `zyx${100 + at}`);
  const searched = await searchedQuery(words.join(' '), {
    passageCount: 100,
    passagesWith: async (terms) =>
      new Map(terms.filter((term) => term.startsWith('near')).map((term) => [term, 3] as const)),
    similarTerms: async (term) => {
      asked.push(term);
      return [`near${asked.length}`];
    },
  });
  expect(asked).toEqual(words.slice(0, 8));
  expect(searched?.words.map(({ terms }) => [...terms.keys()])).toEqual(
    words.map((_, at) => (at < 8 ? [`near${at + 1}`] : [])),
  );
});
