import { expect, it } from 'vitest';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { JsonValue } from './json-values.ts';
import { readSynonyms } from './read-synonyms.ts';

function read(search: JsonValue | undefined) {
  const diagnostics: Diagnostic[] = [];
  const groups = readSynonyms(search, 'docs.json', (found) => diagnostics.push(found));
  return { groups, messages: diagnostics.map(({ message }) => message), codes: diagnostics.map(({ code }) => code) };
}

it('reads groups as written', () => {
  expect(
    read({
      prompt: 'Ask',
      synonyms: [
        ['workspace', ' team  space ', 'テナント'],
        ['libSQL', 'Turso'],
      ],
    }),
  ).toEqual({
    groups: [
      ['workspace', 'team space', 'テナント'],
      ['libSQL', 'Turso'],
    ],
    messages: [],
    codes: [],
  });
  for (const none of [undefined, {}, { synonyms: [] }, { synonyms: null }])
    expect(read(none)).toEqual({ groups: undefined, messages: [], codes: [] });
});

it('reports each group or expression without effect, with the reason', () => {
  const { groups, messages, codes } = read({
    synonyms: [
      ['workspace', ''],
      'tenant',
      ['tenant', 'x'.repeat(101), 'a b c d e f g h i', '---', 'zero\u200bwidth', 'half \ud800', 7, 'space'],
      ['Install', 'installs'],
    ],
  });
  expect(groups).toEqual([['tenant', 'space']]);
  expect(new Set(codes)).toEqual(new Set(['bad-synonyms']));
  const left = '; it is left out.';
  expect(messages).toEqual([
    `"search.synonyms[0]" has "", which is empty${left}`,
    '"search.synonyms[0]" has fewer than two expressions that the search can tell apart, so it has no effect. Add another one.',
    `"search.synonyms[1]" must be a list of words and phrases that mean the same${left}`,
    expect.stringContaining(`which has 101 characters (at most 100)${left}`),
    `"search.synonyms[2]" has "a b c d e f g h i", which has 9 words (at most 8)${left}`,
    `"search.synonyms[2]" has "---", which has no letter or digit${left}`,
    expect.stringContaining(`which has invisible characters${left}`),
    expect.stringContaining(`which has invisible characters${left}`),
    `"search.synonyms[2]" has "7", which is not text${left}`,
    '"search.synonyms[3]" has fewer than two expressions that the search can tell apart, so it has no effect. Add another one.',
  ]);
});

it('accepts 500 groups of 20 expressions, and reports further ones', () => {
  const group = Array.from({ length: 21 }, (_, at) => `word${at}`);
  const { groups, messages } = read({ synonyms: Array.from({ length: 501 }, () => group) });
  expect(groups).toHaveLength(500);
  expect(groups?.[0]).toHaveLength(20);
  expect(messages).toHaveLength(21);
  expect(messages[0]).toBe('"search.synonyms" has 501 groups; the first 500 count. Join groups that mean the same.');
  expect(messages.at(-1)).toBe('481 more problems with "search.synonyms" are not listed. Solve these first.');
});

it('reports values of other types and unknown keys', () => {
  expect(read({ synonyms: { a: 'b' }, boost: 1 })).toEqual({
    groups: undefined,
    messages: [
      '"search.boost" is not a known setting, so it has no effect.',
      '"search.synonyms" must be a list of groups, such as [["workspace", "tenant"]]; it has no effect.',
    ],
    codes: ['unknown-setting', 'bad-synonyms'],
  });
});
