import { expect, it } from 'vitest';
import type { JsonObject } from './json-values.ts';
import { pageVisibility } from './page-entry.ts';
import type { PagePlace } from './read-navigation.ts';

const place = (more: Partial<PagePlace> = {}): PagePlace => ({
  hidden: false,
  searchable: undefined,
  language: undefined,
  version: undefined,
  source: { names: [], directory: 'api-reference' },
  ...more,
});
const shown = [place()];
const hiddenGroup = [place({ hidden: true })];

it.each<[string, JsonObject, PagePlace[], 'navigable' | 'all', object]>([
  ['a page as usual', {}, shown, 'navigable', { inNavigation: true, hidden: false, noindex: false, searchable: true }],
  ['hidden: true', { hidden: true }, shown, 'navigable', { hidden: true, noindex: true, searchable: false }],
  [
    'not in the navigation',
    {},
    [],
    'navigable',
    { inNavigation: false, hidden: false, noindex: false, searchable: false },
  ],
  [
    'words in quotes',
    { hidden: 'true', noindex: 'false', searchable: 'False' },
    shown,
    'navigable',
    { hidden: true, noindex: true, searchable: false },
  ],
  ['noindex: true', { noindex: true }, shown, 'navigable', { hidden: false, noindex: true, searchable: false }],
  [
    'searchable: false',
    { searchable: false },
    shown,
    'navigable',
    { hidden: false, noindex: false, searchable: false },
  ],
  ['in a hidden group', {}, hiddenGroup, 'navigable', { hidden: true, noindex: true, searchable: false }],
  [
    'hidden: false there',
    { hidden: false },
    hiddenGroup,
    'navigable',
    { hidden: true, noindex: false, searchable: true },
  ],
  [
    'in a hidden, searchable tab',
    {},
    [place({ hidden: true, searchable: true })],
    'navigable',
    { hidden: true, noindex: false, searchable: true },
  ],
  [
    'hidden in one place, shown in another',
    {},
    [...hiddenGroup, ...shown],
    'navigable',
    { hidden: false, noindex: false, searchable: true },
  ],
  [
    'in a group that is not searchable',
    {},
    [place({ searchable: false })],
    'navigable',
    { hidden: false, searchable: false },
  ],
  ['hidden, everything indexed', { hidden: true }, [], 'all', { hidden: true, noindex: false, searchable: true }],
  ['noindex, everything indexed', { noindex: true }, shown, 'all', { noindex: true, searchable: false }],
])('%s', (_what, frontmatter, places, indexing, expected) => {
  expect(pageVisibility(frontmatter, places, indexing)).toMatchObject(expected);
});
