import { expect, test } from 'vitest';
import { findLines, type LineSearch } from './find-lines.ts';
import { linePattern } from './line-pattern.ts';
import type { FoundPage, SearchIndex } from './search-index.ts';

const scope = { organization: 'acme', domain: 'docs', contentVersion: 'cv_1' };
const usual = { isExpression: false, isCaseSensitive: false };
const expression = { isExpression: true, isCaseSensitive: false };

const pageOf = (path: string, markdown: string): FoundPage => ({
  ...{ path, title: path.toUpperCase(), language: undefined, version: undefined },
  ...{ markdown, peoplesMarkdown: markdown },
});

/** An index with these pages, which every reader may see. */
const indexOf = (pages: readonly FoundPage[]): Pick<SearchIndex, 'pagesAfter'> => ({
  pagesAfter: async (_scope, { after, under, limit }) =>
    pages.filter(({ path }) => path > after && path.startsWith(under)).slice(0, limit),
});

const search = async (pages: readonly FoundPage[], text: string, kind = usual, more: Partial<LineSearch> = {}) =>
  findLines(indexOf(pages), scope, [], {
    ...{ pattern: await linePattern(text, kind), under: '', after: '', limit: 50, around: 1, ...more },
  });

test('finds lines with the lines around them', async () => {
  const found = await search([pageOf('a', 'one\ntwo KEY\nthree'), pageOf('b', 'nothing')], 'key');
  expect(found).toEqual({
    searched: 2,
    pages: [
      { path: 'a', title: 'A', more: 0, lines: [{ line: 2, text: 'two KEY', before: ['one'], after: ['three'] }] },
    ],
  });
  expect((await search([pageOf('a', 'Key')], 'key', { ...usual, isCaseSensitive: true })).pages).toEqual([]);
});

test('plain text is no expression, and an expression is one', async () => {
  const pages = [pageOf('a', 'docs.json\ndocsXjson')];
  expect((await search(pages, 'docs.json')).pages[0]?.lines).toHaveLength(1);
  expect((await search(pages, 'docs.json', expression)).pages[0]?.lines).toHaveLength(2);
  expect((await search(pages, '^DOCS[.]', expression)).pages[0]?.lines).toHaveLength(1);
});

test('ends after enough lines, and continues after the named page', async () => {
  const pages = Array.from({ length: 45 }, (_, n) => pageOf(`p/${String(n).padStart(2, '0')}`, 'word\nword'));
  const paths: string[] = [];
  let after = '';
  for (let rounds = 1; ; rounds += 1) {
    const found = await search(pages, 'word', usual, { after, limit: 30 });
    paths.push(...found.pages.map(({ path }) => path));
    if (found.next === undefined) break;
    expect(rounds).toBeLessThan(4);
    after = found.next;
  }
  expect(paths).toEqual(pages.map(({ path }) => path));
  expect((await search([pageOf('a', 'x\n'.repeat(25))], 'x')).pages[0]).toMatchObject({ more: 5 });
});

test.each([
  ['((a{1000}){1000}){1000}', 'cannot be read'],
  ['(abcdefghij){200}', 'too large'],
  ['(?=a)b', 'look-around'],
  ['(a)\\1', 'back references'],
  ['(', 'cannot be read'],
  ['a'.repeat(1_000_000), 'more than 300 characters'],
  ['a\nb', 'line break'],
  ['', 'empty'],
])('the expression %.30s is refused', async (text, why) => {
  await expect(linePattern(text, expression)).rejects.toThrow(why);
});

test.each(['(a+)+$', '(a|a)*b', '(.*)*x', '(a?){100}a{100}', '([a-z]+)*=', '(x+x+)+y'])(
  '%s ends on a line that backtracking engines never finish',
  async (text) => {
    const page = pageOf('a', `${'a'.repeat(1_000_000)}!\n${'ax'.repeat(5_000)}`);
    expect(await search([page], text, expression)).toMatchObject({ searched: 1 });
  },
);
