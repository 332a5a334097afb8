import { expect, test } from 'vitest';
import { pagePathOf, pageUrl, unknownFilter } from './retrieval.ts';

test('addresses are those of the site, safe in Markdown links', () => {
  expect(pageUrl('guides/x', 'install')).toBe('/guides/x#install');
  expect(pageUrl('index', '')).toBe('/');
  expect(pageUrl('a b/c?(1)', 'über')).toBe('/a%20b/c%3F%281%29#%C3%BCber');
  expect(pageUrl('half\ud800', 'of\udfff')).toBe('/half%EF%BF%BD#of%EF%BF%BD');
});

test('all forms of the current page', () => {
  expect(pagePathOf('/guides/x')).toBe('guides/x');
  expect(pagePathOf('guides/x.html?a=1#b')).toBe('guides/x');
  expect(pagePathOf('https://docs.acme.com/guides/x/')).toBe('guides/x');
  expect(pagePathOf('/')).toBe('index');
  expect(pagePathOf('/%E0%A4%A')).toBe('%E0%A4%A');
  expect(pagePathOf(' ')).toBeUndefined();
  expect(pagePathOf(null)).toBeUndefined();
  // A parser that backtracks takes longer than a client waits.
  expect(pagePathOf(`/a${'/'.repeat(1_000_000)}b`)).toBeUndefined();
});

test('a filter that no page fits is said; a language filters nothing where there are none', () => {
  const open = { versions: ['v1', 'v2'], languages: ['de', 'en'], tags: [] };
  const facets = { ...open, open };
  expect(unknownFilter({ version: 'v9', language: 'tlh' }, facets, [])).toBe(
    'Nothing was found, because this documentation has no version "v9". It has: v1, v2. Nothing was found, because this documentation has no language "tlh". It has: de, en.',
  );
  expect(unknownFilter({ language: 'tlh' }, { ...facets, languages: [] }, [])).toBeUndefined();
  const none = { ...open, versions: [] };
  expect(unknownFilter({ version: 'v1' }, { ...none, open: none }, [])).toContain('It has no versions.');
});

test('a filter reveals no value that only pages with groups have', () => {
  const open = { versions: ['v1'], languages: [], tags: [] };
  const facets = { versions: ['secret', 'v1'], languages: [], tags: [], open };
  const said = (version: string, groups: string[]) => unknownFilter({ version }, facets, groups);
  expect(said('v9', [])).toContain('It has: v1.');
  expect(said('secret', [])).toBe(said('v9', [])?.replace('v9', 'secret'));
  expect(said('v9', ['staff'])).toContain('It has: v1.');
  expect(said('secret', ['staff'])).toBeUndefined();
});
