import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unitVector } from '#shared/embedding/embedder.ts';
import {
  type SearchIndex,
  type SearchPage,
  type SearchQuery,
  type SearchScope,
  SearchUnavailable,
} from '../search-index.ts';

const concepts = [
  ['car', 'cars', 'automobile'],
  ['invoice', 'invoices', 'bill'],
  ['secret', 'secrets', 'credential'],
  ['dog', 'dogs', 'canine'],
];

/** A model that knows a few words. Its vectors have an axis for each subject, and one axis on which all texts are equal. */
export function conceptVector(text: string): Float32Array {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counts = concepts.map((known) => words.filter((word) => known.includes(word)).length);
  return unitVector([...counts, 1]) ?? new Float32Array(concepts.length + 1);
}

const model = 'concepts';
const about = (text: string, name = model): SearchQuery['meaning'] => ({ model: name, vector: conceptVector(text) });

const scopeOf = (domain: string, contentVersion = 'cv_1', organization = 'acme'): SearchScope => ({
  organization,
  domain,
  contentVersion,
});

const page = (path: string, text: string, more: Partial<SearchPage> = {}): SearchPage => ({
  ...{ path, title: `Page ${path}`, names: [], keywords: [], groups: [], boost: 1, key: `${path} ${text}` },
  ...{ links: [], markdown: '', passages: [{ anchor: 'part', heading: '', text }] },
  ...more,
});

const site = [
  page('driving', 'How cars are parked.'),
  page('billing', 'When invoices are sent.', { version: 'v1' }),
  page('pets', 'Dogs are welcome.'),
  page('twin', 'How cars are parked.', { title: 'Page driving' }),
  page('vault', 'Where secrets are kept.', { groups: ['staff'] }),
];

async function fill(index: SearchIndex, scope: SearchScope, pages: SearchPage[], from?: string): Promise<void> {
  const build = await index.startBuild(scope, { from });
  const kept = pages.filter(({ path, key }) => build.known.get(path) === key);
  await build.add(pages.filter((one) => !kept.includes(one)));
  await build.keep(kept.map(({ path }) => path));
  await build.commit();
}

/** Returns the texts that had no vector. */
async function fillVectors(index: SearchIndex, scope: SearchScope, name = model): Promise<string[] | undefined> {
  const build = await index.startVectors?.(scope, name);
  if (build === undefined) return undefined;
  const texts = [...build.missing.values()];
  await build.add(new Map([...build.missing].map(([digest, text]) => [digest, conceptVector(text)])));
  await build.commit();
  await build.close();
  return texts.toSorted();
}

/** Tests that every index with vectors must pass. */
export function searchVectorsContract(
  open: () => Promise<{ index: SearchIndex; reopen: () => SearchIndex; end: () => Promise<void> }>,
): void {
  describe('vectors', () => {
    let opened: Awaited<ReturnType<typeof open>>;
    let index: SearchIndex;
    beforeAll(async () => {
      opened = await open();
      index = opened.index;
    });
    afterAll(() => opened?.end());

    const paths = async (scope: SearchScope, query: string, more: Partial<SearchQuery> = {}): Promise<string[]> =>
      (await index.search({ ...scope, query, limit: 10, ...more })).map(({ path }) => path);

    test('a question without a word of the passage finds it by its meaning, once there are vectors of its model', async () => {
      const scope = scopeOf('meaning');
      await fill(index, scope, site);
      const question = 'automobile';
      const asked = { meaning: about(question) };
      const reader = opened.reopen();
      expect(await paths(scope, question, asked)).toEqual([]);
      const build = await index.startVectors?.(scope, model);
      expect([...(build?.missing.values() ?? [])].toSorted()).toEqual([
        'Page billing\nWhen invoices are sent.',
        'Page driving\nHow cars are parked.',
        'Page pets\nDogs are welcome.',
      ]);
      await build?.add(new Map([...(build?.missing ?? [])].map(([digest, text]) => [digest, conceptVector(text)])));
      expect(await paths(scope, question, asked)).toEqual([]);
      await build?.commit();
      expect(await paths(scope, question, asked)).toEqual(['driving', 'twin']);
      expect(await reader.search({ ...scope, query: question, limit: 1, ...asked })).toHaveLength(1);
      await reader.close();
      const [found] = await index.search({ ...scope, query: question, limit: 1, explain: true, ...asked });
      expect(found?.score).toBeGreaterThan(0);
      expect(found?.score).toBeLessThanOrEqual(1);
      expect(found).toMatchObject({ coverage: 0, explanation: { signals: { passages: 0 } } });
      expect(found?.explanation?.signals['meaning']).toBeGreaterThan(0.5);
      expect(await index.startVectors?.(scope, model)).toBeUndefined();
    });

    test('words alone decide without a vector, with one of another model or length, and of a version without vectors', async () => {
      const [scope, bare] = [scopeOf('words'), scopeOf('bare')];
      await fill(index, scope, site);
      await fill(index, bare, site);
      await fillVectors(index, scope);
      const others = [undefined, about('cars', 'another'), { model, vector: Float32Array.of(1, 0) }];
      for (const query of ['parked cars', 'invoices', 'automobile', 'sent are page']) {
        const byWords = await index.search({ ...bare, query, limit: 9, explain: true });
        for (const meaning of others)
          expect(await index.search({ ...scope, query, limit: 9, explain: true, meaning })).toEqual(byWords);
        expect(await index.search({ ...bare, query, limit: 9, explain: true, meaning: about(query) })).toEqual(byWords);
      }
    });

    test('words and meaning count together', async () => {
      const scope = scopeOf('both');
      await fill(index, scope, [page('a', 'The bill of a dog is here.'), page('b', 'The canine is here.'), ...site]);
      await fillVectors(index, scope);
      const asked = 'canine';
      expect(await paths(scope, asked)).toEqual(['b']);
      expect(await paths(scope, asked, { meaning: about(asked) })).toEqual(['b', 'pets', 'a']);
    });

    test('filters and exclusions apply to passages found by meaning; pages with groups have no vectors', async () => {
      const scope = scopeOf('filters');
      await fill(index, scope, site);
      await fillVectors(index, scope);
      const ask = (word: string, more: Partial<SearchQuery> = {}) =>
        paths(scope, word, { meaning: about(word), ...more });
      expect(await ask('bill')).toEqual(['billing']);
      expect(await ask('bill', { filter: { version: 'v1' } })).toEqual(['billing']);
      expect(await ask('bill', { filter: { version: 'v2' } })).toEqual([]);
      expect(await ask('bill', { filter: { tag: 'none' } })).toEqual([]);
      expect(await ask('bill', { exclude: ['billing'] })).toEqual([]);
      expect(await ask('automobile', { exclude: ['driving'] })).toEqual(['twin']);
      expect(await ask('credential', { filter: { groups: ['staff'] } })).toEqual([]);
      expect(await paths(scopeOf('filters', 'cv_1', 'globex'), 'bill', { meaning: about('bill') })).toEqual([]);
    });

    test('a later version needs vectors of changed texts only, and so does one that is built again', async () => {
      const [first, second] = [scopeOf('later'), scopeOf('later', 'cv_2')];
      await fill(index, first, site);
      await fillVectors(index, first);
      const changed = site.map((one) =>
        one.path === 'pets'
          ? page('pets', 'Dogs stay outside.', {
              passages: [...one.passages, { anchor: '', heading: '', text: 'No canine whatsoever.' }],
            })
          : one,
      );
      await fill(index, second, changed, first.contentVersion);
      expect(await fillVectors(index, second)).toEqual(['Page pets\nNo canine whatsoever.']);
      expect(await paths(second, 'automobile', { meaning: about('automobile') })).toEqual(['driving', 'twin']);
      await fill(index, second, changed);
      expect(await fillVectors(index, second)).toEqual([]);
      expect(await paths(second, 'automobile', { meaning: about('automobile') })).toEqual(['driving', 'twin']);
      expect(await index.startVectors?.(second, model)).toBeUndefined();
    });

    test('another model needs all of them again, and replaces those of the first', async () => {
      const scope = scopeOf('models');
      await fill(index, scope, site);
      await fillVectors(index, scope);
      expect(await fillVectors(index, scope, 'concepts-2')).toHaveLength(3);
      expect(await paths(scope, 'automobile', { meaning: about('automobile') })).toEqual([]);
      const asked = { meaning: about('automobile', 'concepts-2') };
      expect(await paths(scope, 'automobile', asked)).toEqual(['driving', 'twin']);
    });

    test('vectors may be added in steps; a text that the model refuses is not requested again', async () => {
      const scope = scopeOf('some');
      await fill(index, scope, site);
      const build = await index.startVectors?.(scope, model);
      const [first, refused] = [...(build?.missing ?? [])].toSorted(([, a], [, b]) => (a < b ? 1 : -1));
      await build?.add(
        new Map([
          [first?.[0] ?? '', conceptVector(first?.[1] ?? '')],
          [refused?.[0] ?? '', undefined],
        ]),
      );
      await build?.commit();
      const later = await index.startVectors?.(scope, model);
      expect([...(later?.missing.values() ?? [])]).toEqual(['Page billing\nWhen invoices are sent.']);
      expect(await fillVectors(index, scope)).toHaveLength(1);
      expect(await index.startVectors?.(scope, model)).toBeUndefined();
      expect(await paths(scope, 'canine', { meaning: about('canine') })).toEqual(['pets']);
      expect(await paths(scope, 'automobile', { meaning: about('automobile') })).toEqual([]);
    });

    test('vectors of a version that is replaced meanwhile are refused, and so are those of different lengths', async () => {
      const scope = scopeOf('race');
      await fill(index, scope, site);
      const build = await index.startVectors?.(scope, model);
      const digests = [...(build?.missing.keys() ?? [])];
      await expect(
        build?.add(
          new Map([
            [digests[0] ?? '', conceptVector('car')],
            [digests[1] ?? '', Float32Array.of(1)],
          ]),
        ),
      ).rejects.toThrow(SearchUnavailable);
      await fill(index, scope, site);
      await expect(build?.commit()).rejects.toThrow(SearchUnavailable);
      expect(await fillVectors(index, scope)).toBeInstanceOf(Array);
      expect(await paths(scope, 'canine', { meaning: about('canine') })).toEqual(['pets']);
    });

    test('a version that is not indexed gets none, and a removed one has none', async () => {
      const scope = scopeOf('gone');
      expect(await index.startVectors?.(scope, model)).toBeUndefined();
      await fill(index, scope, site);
      await fillVectors(index, scope);
      await index.remove(scope);
      expect(await index.startVectors?.(scope, model)).toBeUndefined();
      expect(await paths(scope, 'bill', { meaning: about('bill') })).toEqual([]);
    });
  });
}
