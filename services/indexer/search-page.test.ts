import { expect, test } from 'vitest';
import type { NavigationNode, PageEntry } from '#shared/docs/project/site-model.ts';
import { defaultDivisions, searchPage } from './search-page.ts';

const entry = (changes: Partial<PageEntry>): PageEntry => ({
  path: 'guides/x',
  file: 'guides/x.mdx',
  sha256: '0'.repeat(64),
  sizeBytes: 1,
  title: 'X',
  deprecated: false,
  inNavigation: true,
  hidden: false,
  noindex: false,
  searchable: true,
  groups: [],
  keywords: [],
  frontmatter: {},
  dependencies: [],
  linkTargets: [],
  ...changes,
});

const division = (
  kind: 'version' | 'language',
  title: string,
  isDefault = false,
  children: NavigationNode[] = [],
): NavigationNode => ({
  kind: 'division',
  division: kind,
  title,
  isDefault,
  hidden: false,
  children,
});

const made = { key: 'k', links: [], markdown: '' };
const none = { languages: new Set<string>(), versions: new Set<string>() };

test('the description begins the first passage, or is one', () => {
  const page = entry({ description: 'What X is.' });
  expect(searchPage(page, [{ anchor: '', heading: '', text: 'Text' }], none, made).passages).toEqual([
    { anchor: '', heading: '', text: 'What X is.\n\nText' },
  ]);
  expect(searchPage(page, [{ anchor: 'a', heading: 'A', text: 'Text' }], none, made).passages).toEqual([
    { anchor: '', heading: '', text: 'What X is.' },
    { anchor: 'a', heading: 'A', text: 'Text' },
  ]);
});

test('a page without text is found by its title', () => {
  expect(searchPage(entry({}), [], none, made).passages).toEqual([{ anchor: '', heading: '', text: 'X' }]);
});

test('the default language and version rank first', () => {
  const defaults = defaultDivisions([
    division('language', 'en', false, [division('version', 'v1'), division('version', 'v2', true)]),
    division('language', 'fr', false, [division('version', 'v2')]),
  ]);
  expect(defaults).toEqual({ languages: new Set(['en']), versions: new Set(['v2']) });
  const boost = (changes: Partial<PageEntry>) => searchPage(entry(changes), [], defaults, made).boost;
  expect(boost({ language: 'en', version: 'v2' })).toBe(1);
  expect(boost({ language: 'fr', version: 'v1' })).toBeCloseTo(0.36);
  expect(boost({})).toBe(1);
  expect(boost({ frontmatter: { boost: 99 } })).toBe(3);
});

test('the name in the navigation is another name of a page', () => {
  const names = (changes: Partial<PageEntry>) => searchPage(entry(changes), [], none, made).names;
  expect(names({ sidebarTitle: 'Short X' })).toEqual(['Short X']);
  expect(names({ sidebarTitle: 'X' })).toEqual([]);
  expect(names({})).toEqual([]);
});

test('texts that every passage repeats are cut to a limit', () => {
  const long = 'word '.repeat(10_000);
  const keywords = ['first', ...Array.from({ length: 5_000 }, (_, at) => `keyword ${at}`)];
  const page = searchPage(
    entry({
      ...{
        title: long,
        sidebarTitle: `Other ${long}`,
        description: long,
        keywords,
        frontmatter: { openapi: 'GET /users' },
      },
      ...{ language: long, version: long, tag: long, groups: [long] },
    }),
    [{ anchor: '', heading: '', text: 'Text' }],
    none,
    made,
  );
  const { title, names, language, version, tag, groups } = page;
  expect([title, ...names].map(({ length }) => length)).toEqual([500, 500]);
  expect([language, version, tag].map((name) => name?.length)).toEqual([200, 200, 200]);
  expect(page.keywords.slice(0, 2)).toEqual(['GET /users', 'first']);
  expect(page.keywords.join('').length).toBeLessThanOrEqual(2_000);
  expect(page.passages[0]?.text.length).toBeLessThan(2_100);
  // The groups that may see the page are never cut.
  expect(groups).toEqual([long]);
});
