import { expect, test } from 'vitest';
import { analyzeText } from './analyze-text.ts';
import { builtInSynonyms } from './synonyms.ts';

const variantsIn = (question: string): Record<string, string[]> =>
  Object.fromEntries(
    [...builtInSynonyms.of(analyzeText(question))].map(([term, variants]) => [term, [...variants.keys()]]),
  );

test('a word has the others of its group, and a phrase counts as one', () => {
  expect(variantsIn('a backup')['backup']).toEqual(expect.arrayContaining(['restor', 'snapshot', 'recov']));
  expect(variantsIn('sign in')['sign']).toEqual(expect.arrayContaining(['login', 'authent']));
  expect(variantsIn('a sign of it')['sign']).toBeUndefined();
});

test('a pronoun may be in a phrase, and nothing else', () => {
  expect(variantsIn('can I get it back')['back']).toContain('recov');
  expect(variantsIn('set this up')['set']).toContain('instal');
  expect(variantsIn('get a table back')['back']).toBeUndefined();
  expect(variantsIn('get it it back')['back']).toBeUndefined();
});
