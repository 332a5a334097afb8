import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PageEntry, SiteModel } from '#shared/docs/project/site-model.ts';
import { siteModel } from '../../../test/support/site-model.ts';
import type { RenderOptions } from './page-slice.ts';
import { pageKey, type PageKeys, pageKeys } from './segment-keys.ts';
import { exportedPages, indexSite } from './site-index.ts';

const options: RenderOptions = { deployment: 'cloud', onPageError: 'fail', allowTenantScripts: true, groups: [] };
const paths = ['a', 'b', 'c', 'guides/d', 'guides/e', 'es/a', 'es/b'];
const indexOf = (model: SiteModel) => indexSite(model, exportedPages(model, options.groups));
const keysOf = (model: SiteModel, known?: PageKeys) => pageKeys('r-0123456789ab', indexOf(model), options, known);

const first = (): SiteModel => ({
  ...siteModel(
    paths.map((path) => ({ path, dependencies: path.startsWith('guides/') ? ['snippets/x.mdx'] : [] })),
    { snippets: { 'snippets/x.mdx': 'x' }, assets: { 'images/a.png': 'a' }, styles: { 's.css': 's' } },
  ),
  redirects: [{ source: '/old', destination: '/b', permanent: true }],
});

/** Changes of one part of the model that pages may show. */
type Change = (model: SiteModel, page: number, value: string) => void;
const changePage =
  (change: (page: PageEntry, value: string) => void): Change =>
  (model, at, value) => {
    const page = model.pages[at % model.pages.length];
    if (page !== undefined) change(page, value);
  };
const changes: Change[] = [
  changePage((page, value) => (page.sha256 = value.repeat(64))),
  changePage((page, value) => (page.title = value)),
  changePage((page, value) => (page.sidebarTitle = value)),
  changePage((page, value) => (page.description = value)),
  changePage((page, value) => (page.tag = value)),
  changePage((page, value) => (page.frontmatter = { og: value })),
  changePage((page, value) => (page.linkTargets = [`/${value}`, '/old', '/guides', '/images/a.png'])),
  changePage((page) => (page.hidden = !page.hidden)),
  changePage((page, value) => (page.groups = value === 'b' ? ['staff'] : [])),
  changePage((page, value) => (page.language = value)),
  changePage((page) => (page.dependencies = ['snippets/x.mdx'])),
  (model, at, value) => (model.settings.name = `${value}${at}`),
  (model, _at, value) => (model.settings.variables = { value }),
  (model) => model.navigation.reverse(),
  (model, at) => model.navigation.splice(at % model.navigation.length, 1),
  (model, _at, value) => {
    model.navigation = [
      { kind: 'group', title: value, hidden: false, children: model.navigation.filter(({ kind }) => kind === 'page') },
    ];
  },
  (model, at) => model.pages.splice(at % model.pages.length, 1),
  (model, _at, value) => model.snippets.forEach((snippet) => (snippet.sha256 = value.repeat(64))),
  (model, _at, value) => model.snippets.forEach((snippet) => (snippet.linkTargets = [`/${value}`])),
  (model, _at, value) => (model.redirects = [{ source: '/old', destination: `/${value}`, permanent: true }]),
  (model, at) => model.assets.forEach((asset) => (asset.picture = { width: at + 1, height: 2 })),
  (model) => (model.assets = []),
  (model, _at, value) => model.styles.push({ path: `${value}.css`, sha256: 'a'.repeat(64), sizeBytes: 1 }),
  (model, _at, value) => model.scripts.push({ path: `${value}.js`, sha256: 'a'.repeat(64), sizeBytes: 1 }),
];

test('keys with those of the model before are the keys without, after any change', async () => {
  const change = fc.tuple(fc.constantFrom(...changes), fc.nat(20), fc.constantFrom('a', 'b', 'c', 'd'));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (made) => {
      const model = first();
      let known = await keysOf(model);
      for (const [change, page, value] of made) {
        change(model, page, value);
        // An index refers to its model, so each gets a separate copy.
        const changed = structuredClone(model);
        const keys = await keysOf(changed, known);
        expect(keys).toEqual(await keysOf(structuredClone(model)));
        const index = indexOf(structuredClone(model));
        for (const [path, { key }] of keys.pages) expect(key).toBe(pageKey('r-0123456789ab', index, path, options));
        known = keys;
      }
    }),
    { numRuns: 150 },
  );
});

test('a page whose text alone changed is the only one with a new key', async () => {
  const model = first();
  const known = await keysOf(model);
  const changed = structuredClone(model);
  const [page] = changed.pages;
  if (page !== undefined) Object.assign(page, { sha256: 'b'.repeat(64), keywords: ['k'] });
  const keys = await keysOf(changed, known);
  expect([...keys.pages].filter(([path, { key }]) => known.pages.get(path)?.key !== key)).toHaveLength(1);
  expect(keys.shared).toBe(known.shared);
});

test('keys of another renderer version are made anew', async () => {
  const known = await keysOf(first());
  const { pages } = await pageKeys('r-ba9876543210', indexOf(first()), options, known);
  for (const [path, { key }] of pages) expect(key).not.toBe(known.pages.get(path)?.key);
});
