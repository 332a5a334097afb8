import { expect, test } from 'vitest';
import { analyzeText } from './analyze-text.ts';
import { builtInSynonyms, synonymsOf } from './synonyms.ts';

const variantsIn = (question: string): Record<string, string[]> =>
  Object.fromEntries(
    [...builtInSynonyms.of(analyzeText(question))].map(([term, variants]) => [term, [...variants.keys()]]),
  );

test('a word has the others of its group as synonyms, and a phrase counts as one', () => {
  expect(variantsIn('a backup')['backup']).toEqual(expect.arrayContaining(['restor', 'snapshot', 'recov']));
  expect(variantsIn('sign in')['sign']).toEqual(expect.arrayContaining(['login', 'authent']));
  expect(variantsIn('turn it off')['turn']).toEqual(expect.arrayContaining(['disabl', 'deactiv']));
  expect(variantsIn('several sites')['several']).toEqual(['multipl']);
  expect(variantsIn('a sign of it')['sign']).toBeUndefined();
});

test('a pronoun may be in a phrase, and nothing else', () => {
  expect(variantsIn('can I get it back')['back']).toContain('recov');
  expect(variantsIn('set this up')['set']).toContain('instal');
  expect(variantsIn('get a table back')['back']).toBeUndefined();
  expect(variantsIn('get it it back')['back']).toBeUndefined();
});

const ownVariantsIn = (groups: string[][], question: string): Record<string, Record<string, number>> =>
  Object.fromEntries(
    [...synonymsOf(groups).of(analyzeText(question))].map(([term, variants]) => [term, Object.fromEntries(variants)]),
  );

test('groups of a project count like the built-in ones, in addition to them', () => {
  const groups = [
    ['workspace', 'tenant'],
    ['read replica', 'offline copy'],
  ];
  expect(ownVariantsIn(groups, 'delete a workspace')).toMatchObject({
    workspac: { tenant: 0.7 },
    delet: { remov: 0.7 },
  });
  expect(ownVariantsIn(groups, 'an offline copy')).toMatchObject({ offlin: { read: 0.3, replica: 0.3 } });
});

test('a compound name is found in one word and in its parts', () => {
  const groups = [['Turso', 'libSQL']];
  expect(ownVariantsIn(groups, 'turso')).toEqual({ turso: { lib: 0.3, sql: 0.3, libsql: 0.7 } });
  expect(ownVariantsIn(groups, 'libsql')).toEqual({ libsql: { turso: 0.7 } });
  expect(ownVariantsIn(groups, 'libSQL')['lib']).toEqual({ turso: 0.7 });
});

test('a word in hundreds of groups adds about a hundred terms to a question', () => {
  const groups = Array.from({ length: 500 }, (_, group) => [
    'thing',
    ...Array.from({ length: 19 }, (__, at) => `w${group}x${at}`),
  ]);
  const terms = Object.keys(ownVariantsIn(groups, 'thing')['thing'] ?? {});
  expect(terms.length).toBeGreaterThanOrEqual(100);
  expect(terms.length).toBeLessThan(120);
});

test('a phrase that a question repeats is looked up once, however many groups have it', () => {
  const phrase = 'b c d e f g h';
  const groups = Array.from({ length: 500 }, () => ['a', ...Array.from({ length: 19 }, (_, at) => `${phrase} w${at}`)]);
  const terms = ownVariantsIn(groups, 'a '.repeat(300))['a'] ?? {};
  expect(Object.keys(terms)).toEqual(expect.arrayContaining(['w0', 'w18']));
});
