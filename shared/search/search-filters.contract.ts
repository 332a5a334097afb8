import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unitVector } from '#shared/embedding/embedder.ts';
import type { FoundPassage, SearchFilter, SearchIndex, SearchPage, SearchScope } from './search-index.ts';

/** Names that could be confused with those of others, with markers for all, or with parts of a query. */
const hostile = [
  '',
  'everyone',
  'group staff',
  'staff',
  'Staff',
  '*',
  'a"b',
  "a'b",
  '[]',
  'v1,v2',
  '\ud800',
  'x'.repeat(2_000),
];
const words = ['key', 'token', 'webhook', 'invoice', 'deploy'];
const organizations = ['acme', 'acme-2', 'globex'];
const domains = ['docs', 'api'];
const contentVersions = ['cv_1', 'cv_2'];

const divisions = ['v1', 'v2', 'everywhere', 'division v1'];
/** The values are often absent, so that most questions find something. */
const optional = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 1 });
const scope = fc.record({
  organization: fc.constantFrom(...organizations),
  domain: fc.constantFrom(...domains),
  contentVersion: fc.constantFrom(...contentVersions),
});
const groups = fc.uniqueArray(fc.constantFrom(...hostile), { maxLength: 3 });

const pageShape = fc.record({
  language: optional(divisions),
  version: optional(divisions),
  tag: optional(['api', ...hostile.filter((name) => name !== '')]),
  groups: fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 2, arbitrary: groups }),
  words: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }),
});
type PageShape = typeof pageShape extends fc.Arbitrary<infer T> ? T : never;

const site = fc.record({ scope, pages: fc.array(pageShape, { minLength: 1, maxLength: 12 }) });
const question = fc.record({
  scope,
  query: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }),
  filter: fc.record({
    language: optional([...divisions, 'none']),
    version: optional([...divisions, 'none']),
    tag: optional(['api', 'none', ...hostile.filter((name) => name !== '')]),
    groups: fc.option(groups, { nil: undefined }),
  }),
  excluded: fc.uniqueArray(fc.nat(11), { maxLength: 3 }),
});

const model = 'words';
/** Vectors of texts with common words are near each other. */
const vectorOf = (text: string) =>
  unitVector([...words.map((word) => text.split(word).length - 1), 0.1]) ?? new Float32Array();

const nameOf = ({ organization, domain, contentVersion }: SearchScope) => `${organization}/${domain}/${contentVersion}`;

function pageOf(owner: SearchScope, shape: PageShape, at: number): SearchPage {
  const { words: said, ...filters } = shape;
  // The text names its owner. Each page has two passages, so that it may be found twice.
  const text = `${nameOf(owner)} says ${said.join(' ')}`;
  const unsearched = { key: '', links: [], markdown: '' };
  const passages = [0, 1].map((part) => ({ anchor: `part-${part}`, heading: '', text }));
  return { path: `pages/${at}`, title: 'Page', names: [], keywords: [], boost: 1, ...filters, ...unsearched, passages };
}

/** A simple model of the port's guarantees. */
function maySee(page: SearchPage, filter: SearchFilter, all: readonly SearchPage[]): boolean {
  const isIn = (kind: 'language' | 'version') =>
    filter[kind] === undefined ||
    (kind === 'language' && all.every((other) => other.language === undefined)) ||
    (all.some((other) => other[kind] === filter[kind]) && (page[kind] === undefined || page[kind] === filter[kind]));
  const hasTag = filter.tag === undefined || page.tag === filter.tag;
  const isOfGroup = page.groups.length === 0 || page.groups.some((group) => filter.groups?.includes(group));
  return isIn('language') && isIn('version') && hasTag && isOfGroup;
}

/** Tests that a filter admits no passage of another organization, domain, version or group, and hides none that it should admit. */
export function searchFiltersContract(
  open: () => Promise<{ index: SearchIndex; end: () => Promise<void> }>,
  { runs }: { runs: number },
): void {
  describe('filters', () => {
    let opened: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.end());

    test('admit the right pages of the requested sites, and of no other', async () => {
      const { index } = opened;
      let left: SearchScope[] = [];
      let nearCount = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(site, { minLength: 2, maxLength: 4, selector: (one) => nameOf(one.scope) }),
          fc.array(question, { minLength: 20, maxLength: 20 }),
          async (sites, questions) => {
            const pagesOf = new Map<string, SearchPage[]>();
            for (const one of left) await index.remove(one);
            left = sites.map(({ scope: owner }) => owner);
            for (const { scope: owner, pages } of sites) {
              const own = pages.map((shape, at) => pageOf(owner, shape, at));
              pagesOf.set(nameOf(owner), own);
              const build = await index.startBuild(owner);
              await build.add(own);
              await build.commit();
              const vectors = await index.startVectors?.(owner, model);
              await vectors?.add(new Map([...vectors.missing].map(([digest, text]) => [digest, vectorOf(text)])));
              await vectors?.commit();
            }
            for (const { scope: owner, query, filter, excluded } of questions) {
              const own = pagesOf.get(nameOf(owner)) ?? [];
              const exclude = excluded.map((at) => `pages/${at}`);
              const asked = { ...owner, limit: 100, filter, exclude };
              const found = await index.search({ ...asked, query: query.join(' ') });
              const seeable = own.filter((page) => maySee(page, filter, own) && !exclude.includes(page.path));
              const right = seeable.filter((page) =>
                query.some((word) => page.passages[0]?.text.split(' ').includes(word)),
              );
              // This is found only by meaning, because the word is on no page.
              const meaning = { model, vector: vectorOf(query.join(' ')) };
              const near = await index.search({ ...asked, query: 'zyxomma', meaning });
              expect(near.filter(({ text }) => !text.startsWith(`${nameOf(owner)} `))).toEqual([]);
              const everyones = new Set(seeable.filter((page) => page.groups.length === 0).map(({ path }) => path));
              expect(near.filter(({ path }) => !everyones.has(path))).toEqual([]);
              nearCount += near.length;
              const both = await index.search({ ...asked, query: query.join(' '), meaning });
              expect(both.filter(({ path }) => !seeable.some((page) => page.path === path))).toEqual([]);
              expect(both.length).toBeGreaterThanOrEqual(found.length);
              expect(found.filter(({ text }) => !text.startsWith(`${nameOf(owner)} `))).toEqual([]);
              expect(seen(found)).toEqual(right.flatMap(({ path }) => [`${path}#part-0`, `${path}#part-1`]).toSorted());
              for (const page of own) {
                const allowed = page.groups.length === 0 || page.groups.some((group) => filter.groups?.includes(group));
                const one = await index.findPage(owner, page.path, filter.groups ?? []);
                expect(one !== undefined).toBe(allowed);
              }
            }
          },
        ),
        { numRuns: runs },
      );
      if (index.startVectors !== undefined) expect(nearCount).toBeGreaterThan(0);
    });
  });
}

const seen = (found: readonly FoundPassage[]) => found.map(({ path, anchor }) => `${path}#${anchor}`).toSorted();
