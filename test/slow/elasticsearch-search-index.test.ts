import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { type BulkFate, refusingProxy } from '../support/refusing-proxy.ts';
import { type ElasticsearchServer, startElasticsearch } from '../support/start-elasticsearch.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { aliasOf, type ElasticsearchSettings } from '#shared/search/elasticsearch/elasticsearch-connection.ts';
import { elasticsearchSearchIndex } from '#shared/search/elasticsearch/elasticsearch-search-index.ts';
import { mappingVersion } from '#shared/search/elasticsearch/elasticsearch-schema.ts';
import { searchFiltersContract } from '#shared/search/search-filters.contract.ts';
import { searchIndexContract } from '#shared/search/search-index.contract.ts';
import { searchVectorsContract } from '#shared/search/vectors/search-vectors.contract.ts';
import { type SearchIndex, type SearchPage, SearchUnavailable } from '#shared/search/search-index.ts';

const scope = { organization: 'acme', domain: 'docs', contentVersion: 'cv_1' };
const pageCount = 60;
const passagesOfPage = 5;

/** Pages whose passages have a unique word each, and all contain `kind`. */
const pages = (kind: string): SearchPage[] =>
  Array.from({ length: pageCount }, (_, at) => ({
    ...{ path: `pages/${at}`, title: `Page ${at}`, names: [], keywords: [], groups: [], boost: 1 },
    ...{ key: '', links: [], markdown: '' },
    passages: Array.from({ length: passagesOfPage }, (__, part) => ({
      ...{ anchor: `part-${part}`, heading: '', text: `${kind} passage word${at}x${part}` },
    })),
  }));

/** Pages with more text than one bulk request holds. */
const largePages = pages('large').map((page) => ({
  ...page,
  passages: [{ anchor: '', heading: '', text: 'large '.repeat(5_000) }],
}));

async function fill(index: SearchIndex, kind: string): Promise<number> {
  const build = await index.startBuild(scope);
  await build.add(pages(kind));
  return build.commit();
}

const withVectors = { ...scope, domain: 'meaning' };

/** Stores passages with vectors, with one passage that means the same as the question. Returns the results. */
async function fillVectors(index: SearchIndex) {
  const build = await index.startBuild(withVectors);
  await build.add(pages('vector').slice(0, 2));
  await build.commit();
  const vectors = await index.startVectors?.(withVectors, 'test');
  const isMeant = (text: string) => Number(text.includes('word1x3'));
  await vectors?.add(
    new Map([...vectors.missing].map(([digest, text]) => [digest, Float32Array.of(isMeant(text), 1 - isMeant(text))])),
  );
  await vectors?.commit();
  const found = await searchNear(index);
  expect(found.map(({ anchor }) => anchor)).toEqual(['part-3']);
  return found;
}

const searchNear = (index: SearchIndex) =>
  index.search({
    ...withVectors,
    query: 'zyxomma',
    limit: 9,
    meaning: { model: 'test', vector: Float32Array.of(1, 0) },
  });

describeWithServers(['elasticsearch'], 'in Elasticsearch', () => {
  let server: ElasticsearchServer;
  beforeAll(async () => {
    server = await startElasticsearch();
  }, 200_000);
  afterAll(() => server?.stop());

  const settings = (): ElasticsearchSettings => ({
    product: 'elasticsearch',
    nodes: [server.url],
    prefix: `it-${randomBytes(4).toString('hex')}`,
    shards: 1,
    replicas: 0,
  });

  async function open() {
    const own = settings();
    const index = elasticsearchSearchIndex(own);
    return { index, reopen: () => elasticsearchSearchIndex(own), end: () => index.close() };
  }

  searchIndexContract(open);
  searchFiltersContract(open, { runs: 5 });
  searchVectorsContract(open);

  /** Number of documents in the index. */
  async function documentCount({ prefix }: ElasticsearchSettings): Promise<number> {
    await fetch(`${server.url}/${prefix}-*/_refresh`, { method: 'POST' });
    const answer = await fetch(`${server.url}/${aliasOf({ prefix })}/_count`);
    return ((await answer.json()) as { count: number }).count;
  }

  async function request(path: string, method: string, body?: object): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    const answer = await fetch(`${server.url}/${path}`, { method, ...sent });
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  }

  /**
   * Expected number of documents if each is stored once: pages, passages, and three for the list of pages, the searched build and the builds in use.
   */
  const onceThere = pageCount * (1 + passagesOfPage) + 3;

  async function expectWhole(index: SearchIndex, own: ElasticsearchSettings): Promise<void> {
    expect(await index.passageCount(scope)).toBe(pageCount * passagesOfPage);
    expect(await documentCount(own)).toBe(onceThere);
    for (const word of ['word0x0', 'word0x1', 'word31x4', 'word59x4']) {
      const found = await index.search({ ...scope, query: word, limit: 5 });
      expect(found.map(({ text }) => text)).toEqual([expect.stringContaining(word)]);
    }
  }

  const fates: [string, (bulk: number) => BulkFate][] = [
    ['refuses half of each bulk at first', (bulk) => (bulk < 3 ? 'half refused' : 'stored')],
    ['loses its answers at first', (bulk) => (bulk < 3 ? 'answer lost' : 'stored')],
    ['does both', (bulk) => (['half refused', 'answer lost', 'half refused', 'stored'] as const)[bulk % 4] ?? 'stored'],
  ];
  test.each(fates)('a cluster that %s has everything once in the end', async (_, fate) => {
    const proxy = await refusingProxy(server.url, fate);
    const own = { ...settings(), nodes: [proxy.url] };
    const index = elasticsearchSearchIndex(own);
    expect(await fill(index, 'first')).toBe(pageCount * passagesOfPage);
    expect(proxy.counts['half refused'] + proxy.counts['answer lost']).toBeGreaterThan(1);
    await expectWhole(index, own);
    await index.close();
    await proxy.close();
  });

  test('a cluster that keeps refusing is unavailable, and does not change the searched version', async () => {
    const own = settings();
    const healthy = elasticsearchSearchIndex(own);
    await fill(healthy, 'first');
    const proxy = await refusingProxy(server.url, () => 'half refused');
    const index = elasticsearchSearchIndex({ ...own, nodes: [proxy.url], writeWithinMs: 500 });
    const build = await index.startBuild(scope);
    await build.add(pages('second'));
    await expect(build.commit()).rejects.toThrow(SearchUnavailable);
    await build.abandon();
    expect(await index.search({ ...scope, query: 'second', limit: 5 })).toEqual([]);
    await expectWhole(index, own);
    await Promise.all([healthy.close(), index.close(), proxy.close()]);
  });

  describe('when writes are blocked, as on a full disk', () => {
    const block = (own: ElasticsearchSettings, value: boolean | null) =>
      request(`${aliasOf(own)}/_settings`, 'PUT', { 'index.blocks.read_only_allow_delete': value });

    test('searches continue, the reason is reported, and a build ends when there is room', async () => {
      const own = settings();
      const index = elasticsearchSearchIndex(own);
      await fill(index, 'first');
      await block(own, true);
      await index.check('search');
      await expect(index.check('build')).rejects.toThrow('read_only_allow_delete');
      const build = await index.startBuild(scope);
      await build.add(pages('second'));
      const committed = build.commit();
      expect(await index.search({ ...scope, query: 'first', limit: 1 })).toHaveLength(1);
      await block(own, null);
      expect(await committed).toBe(pageCount * passagesOfPage);
      expect(await index.search({ ...scope, query: 'first', limit: 1 })).toEqual([]);
      await expectWhole(index, own);
      await index.check('build');
      await index.close();
    });
  });

  test('while its version is replaced, every answer is completely from one build', async () => {
    const own = settings();
    const index = elasticsearchSearchIndex(own);
    // The time does not matter here, so the deadline is long enough for a busy machine.
    const reader = elasticsearchSearchIndex({ ...own, searchWithinMs: 30_000 });
    await fill(index, 'round0');
    const seen = new Set<string>();
    const replaced = new AbortController();
    const searches = Promise.allSettled(
      Array.from({ length: 3 }, async () => {
        while (!replaced.signal.aborted) {
          const found = await reader.search({ ...scope, query: 'passage', limit: 400 });
          const kinds = new Set(found.map(({ text }) => text.split(' ')[0] ?? ''));
          expect([kinds.size, found.length]).toEqual([1, pageCount * passagesOfPage]);
          for (const kind of kinds) seen.add(kind);
        }
      }),
    );
    try {
      for (let round = 1; round <= 4; round += 1) await fill(index, `round${round}`);
    } finally {
      replaced.abort();
    }
    expect((await searches).filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(seen.size).toBeGreaterThan(1);
    await Promise.all([index.close(), reader.close()]);
  });

  test('a build that is committed during another build harms neither', async () => {
    const own = settings();
    const [one, other] = [elasticsearchSearchIndex(own), elasticsearchSearchIndex(own)];
    const builds = [await one.startBuild(scope), await other.startBuild(scope)] as const;
    await Promise.all([builds[0].add(pages('first')), builds[1].add(pages('second'))]);
    const results = await Promise.allSettled(builds.map((build) => build.commit()));
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(SearchUnavailable);
    expect(results.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect(await one.search({ ...scope, query: 'passage', limit: 400 })).toHaveLength(pageCount * passagesOfPage);
    await Promise.all([one.close(), other.close()]);
  });

  test('a removal ends a running build, and documents of dead processes are deleted with a later commit', async () => {
    const own = settings();
    const index = elasticsearchSearchIndex(own);
    const dead = await index.startBuild({ ...scope, contentVersion: 'cv_dead' });
    await dead.add(largePages);
    const late = await index.startBuild(scope);
    await late.add(largePages);
    await fill(index, 'first');
    await index.remove(scope);
    await expect(late.commit()).rejects.toThrow(SearchUnavailable);
    await late.abandon();
    expect(await index.passageCount(scope)).toBeUndefined();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * 3_600_000 });
    await fill(index, 'second').finally(() => vi.useRealTimers());
    await expectWhole(index, own);
    await index.close();
  });

  describe('documents that versions share', () => {
    const versionOf = (round: number) => ({ ...scope, contentVersion: `cv_${round}` });
    /** The whole site; each round changes one further page. */
    const edition = (round: number): SearchPage[] =>
      pages('shared').map((page, at) => {
        const changed = at <= round ? round : 0;
        return {
          ...{ ...page, key: `${at} ${changed}` },
          passages: page.passages.map((one) => ({ ...one, text: `${one.text} round${changed}` })),
        };
      });

    async function startOn(index: SearchIndex, round: number, from: number) {
      const build = await index.startBuild(versionOf(round), { from: versionOf(from).contentVersion });
      const isKept = ({ path, key }: SearchPage): boolean => build.known.get(path) === key;
      await build.add(edition(round).filter((page) => !isKept(page)));
      const kept = edition(round).filter(isKept);
      await build.keep(kept.map(({ path }) => path));
      return { build, kept: kept.length };
    }

    async function publish(index: SearchIndex, round: number, from: number): Promise<number> {
      const { build, kept } = await startOn(index, round, from);
      await build.commit();
      return kept;
    }

    /** Expects that a version has all its pages, and none of another round. */
    async function expectEdition(index: SearchIndex, round: number): Promise<void> {
      const found = await index.search({ ...versionOf(round), query: 'shared passage', limit: 400 });
      const expected = edition(round).flatMap(({ passages }) => passages.map(({ text }) => text));
      expect(found.map(({ text }) => text).toSorted()).toEqual(expected.toSorted());
    }

    test('a version has documents for changed pages alone, until too many have changed; removed versions leave nothing', async () => {
      const own = settings();
      const index = elasticsearchSearchIndex(own);
      await publish(index, 0, 0);
      const ofPages = (count: number) => count * (1 + passagesOfPage) + 2;
      let count = ofPages(pageCount) + 1;
      const rounds = 20;
      for (let round = 1; round <= rounds; round += 1) {
        expect(await publish(index, round, round - 1)).toBe(pageCount - round - 1);
        const before = count;
        count = await documentCount(own);
        expect([round, count - before]).toEqual([round, ofPages(round + 1 > 16 && round < 17 ? pageCount : round + 1)]);
        if (round === 16) break;
      }
      for (const round of [0, 1, 5, 15, 16]) await expectEdition(index, round);
      // Other versions need their pages.
      for (const round of [0, 7, 16]) await index.remove(versionOf(round));
      for (const round of [1, 5, 15]) await expectEdition(index, round);
      for (let round = 1; round < 16; round += 1) await index.remove(versionOf(round));
      expect(await documentCount(own)).toBe(0);
      await index.close();
    });

    test('a version whose base is removed while it is built is whole, or is built again', async () => {
      const own = settings();
      const [index, other] = [elasticsearchSearchIndex(own), elasticsearchSearchIndex(own)];
      await publish(index, 0, 0);
      const early = await startOn(index, 1, 0);
      await other.remove(versionOf(0));
      // The build had written nothing yet, so no document named it.
      await expect(early.build.commit()).rejects.toThrow(SearchUnavailable);
      await early.build.abandon();
      expect(await documentCount(own)).toBe(0);
      await publish(index, 0, 0);
      const late = await index.startBuild(versionOf(1), { from: versionOf(0).contentVersion });
      await late.keep([...late.known.keys()].filter((path) => path !== 'pages/0'));
      await late.add(largePages.slice(0, 40).map((page) => ({ ...page, path: `large/${page.path}` })));
      await other.remove(versionOf(0));
      expect(await late.commit()).toBe((pageCount - 1) * passagesOfPage + 40);
      expect(await index.search({ ...versionOf(1), query: 'shared passage', limit: 400 })).toHaveLength(295);
      await other.remove(versionOf(1));
      expect(await documentCount(own)).toBe(0);
      await Promise.all([index.close(), other.close()]);
    });

    test('where documents of the base are lost, everything is written anew', async () => {
      const own = settings();
      const index = elasticsearchSearchIndex(own);
      await publish(index, 0, 0);
      await request(`${aliasOf(own)}/_delete_by_query?refresh=true`, 'POST', {
        query: { term: { 'filters.path': 'pages/9' } },
      });
      expect(await publish(index, 1, 0)).toBe(0);
      await expectEdition(index, 1);
      await index.close();
    });

    test('many publications and removals at once leave whole versions, and nothing else', async () => {
      const own = settings();
      const indices = Array.from({ length: 4 }, () => elasticsearchSearchIndex(own));
      const [index] = indices as [SearchIndex];
      await publish(index, 0, 0);
      const results = await Promise.allSettled(
        indices.map(async (one, at) => {
          for (let round = 1 + at; round <= 12; round += 4) {
            await publish(one, round, Math.max(0, round - 4));
            if (round > 4) await one.remove(versionOf(round - 4));
          }
        }),
      );
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(SearchUnavailable);
      for (let round = 0; round <= 12; round += 1)
        if ((await index.passageCount(versionOf(round))) !== undefined) await expectEdition(index, round);
      await Promise.all(
        indices.map(async (one, at) => {
          for (let round = at; round <= 12; round += 4) await one.remove(versionOf(round));
        }),
      );
      expect(await documentCount(own)).toBe(0);
      for (const one of indices) await one.close();
    });
  });

  describe('beside a program before the ninth shape', () => {
    const owner = { organization: scope.organization, domain: scope.domain };
    const refresh = '_bulk?refresh=true&routing=acme/docs';

    /** A content version of one page with one passage, as an older program stores it. */
    async function storeEarlier(own: ElasticsearchSettings, contentVersion: string, text: string): Promise<string> {
      const startedAt = Date.now();
      const build = `${startedAt.toString(36)}-${randomBytes(4).toString('hex')}`;
      const ofBuild = { ...owner, contentVersion, build, startedAt };
      const filters = { path: 'old', language: 'everywhere', version: 'everywhere', groups: ['everyone'] };
      const averages = { averageLength: { title: 1, path: 1, heading: 1, text: 1 }, averagePageLength: 1 };
      const documents: [string, object][] = [
        [
          `version/acme/docs/${contentVersion}`,
          {
            ...{ ...owner, contentVersion, build, kind: 'version', shape: 7, passageCount: 1, ...averages },
            facets: { versions: [], languages: [], tags: [], open: { versions: [], languages: [], tags: [] } },
          },
        ],
        [
          `${build}/page/${sha256Of('old')}`,
          { ...ofBuild, filters, kind: 'page', page: { path: 'old', title: 'Old', markdown: text } },
        ],
        [
          `${build}/passage/${sha256Of('old')}/0`,
          {
            ...{ ...ofBuild, filters, kind: 'passage', position: 0 },
            terms: { title: 'old', path: 'old', heading: '', text },
            rank: { path: 'old', boost: 1, title: 'old', names: '', keywords: '', textLength: 2 },
            shown: { title: 'Old', anchor: '', heading: '', text },
          },
        ],
      ];
      const lines = documents.flatMap(([_id, document]) => [{ index: { _id } }, document]);
      const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      const headers = { 'content-type': 'application/x-ndjson' };
      const answer = await fetch(`${server.url}/${aliasOf(own)}/${refresh}`, { method: 'POST', headers, body });
      expect(await answer.json()).toMatchObject({ errors: false });
      return build;
    }

    /**
     * Deletes the documents that an older program deletes with each commit: those of builds that began long ago or were replaced, unless they are
     * searched.
     */
    async function cleanAsEarlier(own: ElasticsearchSettings, replaced: string, at: number): Promise<void> {
      const headers = { 'content-type': 'application/json' };
      const ofDomain = [{ term: { organization: owner.organization } }, { term: { domain: owner.domain } }];
      const versions = { query: { bool: { filter: [...ofDomain, { term: { kind: 'version' } }] } } };
      const request = { method: 'POST', headers, body: JSON.stringify(versions) };
      const found = await (await fetch(`${server.url}/${aliasOf(own)}/_search`, request)).json();
      type Hit = { _source: { build: string } };
      const searched = (found as { hits: { hits: Hit[] } }).hits.hits.map(({ _source }) => _source.build);
      const left = [{ range: { startedAt: { lt: at - 4 * 3_600_000 } } }, { term: { build: replaced } }];
      await deleteWhere(own, {
        filter: [...ofDomain, { bool: { should: left, minimum_should_match: 1 } }],
        must_not: [{ terms: { build: searched } }, { term: { kind: 'version' } }],
      });
    }

    const deleteWhere = (own: ElasticsearchSettings, bool: object): Promise<void> =>
      request(`${aliasOf(own)}/_delete_by_query?refresh=true`, 'POST', { query: { bool } });

    test('documents of the older program are searched until this one has a build, and neither deletes those of the other', async () => {
      const own = settings();
      const index = elasticsearchSearchIndex(own);
      await (await index.startBuild({ ...scope, domain: 'other' })).abandon();
      await storeEarlier(own, scope.contentVersion, 'earlier words');
      expect(await index.search({ ...scope, query: 'earlier', limit: 5 })).toMatchObject([{ path: 'old' }]);
      expect(await index.findPage(scope, 'old', [])).toMatchObject({ markdown: 'earlier words' });
      // An undefined count makes the indexer build the version again.
      expect(await index.passageCount(scope)).toBeUndefined();
      const earlierDocuments = await documentCount(own);
      await fill(index, 'first');
      expect(await documentCount(own)).toBe(onceThere + earlierDocuments);
      expect(await index.search({ ...scope, query: 'earlier', limit: 5 })).toEqual([]);
      await storeEarlier(own, scope.contentVersion, 'earlier again');
      expect(await index.search({ ...scope, query: 'first', limit: 400 })).toHaveLength(pageCount * passagesOfPage);
      await index.close();
    });

    test('its clean-up keeps shared documents, and its own documents are deleted a week later', async () => {
      const own = settings();
      const index = elasticsearchSearchIndex(own);
      await fill(index, 'first');
      const next = { ...scope, contentVersion: 'cv_2' };
      const shared = await index.startBuild(next, { from: scope.contentVersion });
      await shared.keep([...shared.known.keys()].filter((path) => path !== 'pages/0'));
      const passageCount = await shared.commit();
      await index.remove(scope);
      const replaced = await storeEarlier(own, next.contentVersion, 'earlier words');
      await storeEarlier(own, next.contentVersion, 'earlier again');
      await cleanAsEarlier(own, replaced, Date.now() + 24 * 3_600_000);
      expect(await index.search({ ...next, query: 'passage', limit: 400 })).toHaveLength(passageCount);
      const withEarlier = await documentCount(own);
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 8 * 24 * 3_600_000 });
      await fill(index, 'second').finally(() => vi.useRealTimers());
      expect(await documentCount(own)).toBe(withEarlier - 3 + onceThere - 1);
      expect(await index.search({ ...next, query: 'passage', limit: 400 })).toHaveLength(passageCount);
      await index.close();
    });

    test.each(['this one', 'that one'])(
      'a version that %s removes is gone for both, and leaves nothing',
      async (who) => {
        const own = settings();
        const index = elasticsearchSearchIndex(own);
        await fill(index, 'first');
        await storeEarlier(own, scope.contentVersion, 'earlier words');
        if (who === 'this one') await index.remove(scope);
        else {
          const { organization, domain, contentVersion } = scope;
          const filter = Object.entries({ organization, domain, contentVersion }).map(([name, is]) => ({
            term: { [name]: is },
          }));
          await deleteWhere(own, { filter, must_not: [{ term: { kind: 'version' } }] });
          await request(`${aliasOf(own)}/_doc/version%2Facme%2Fdocs%2Fcv_1?routing=acme/docs`, 'DELETE');
        }
        expect(await index.passageCount(scope)).toBeUndefined();
        expect(await index.search({ ...scope, query: 'first earlier', limit: 5 })).toEqual([]);
        const next = { ...scope, contentVersion: 'cv_2' };
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * 3_600_000 });
        await index
          .startBuild(next)
          .then((build) => build.commit())
          .finally(() => vi.useRealTimers());
        await index.remove(next);
        expect(await documentCount(own)).toBe(0);
        await index.close();
      },
    );
  });

  test('an index with an older mapping is replaced by a copy, once', async () => {
    const own = settings();
    const indices = [elasticsearchSearchIndex(own), elasticsearchSearchIndex(own)] as const;
    await fill(indices[0], 'first');
    const near = await fillVectors(indices[0]);
    // State that an older program leaves behind.
    const index = `${aliasOf(own)}-${mappingVersion}`;
    await request(`${index}/_block/write`, 'PUT');
    await request(`${index}/_clone/${aliasOf(own)}-0`, 'POST');
    await request(`${aliasOf(own)}-0/_settings`, 'PUT', { 'index.blocks.write': null });
    const actions = [{ add: { index: `${aliasOf(own)}-0`, alias: aliasOf(own) } }, { remove_index: { index } }];
    await request('_aliases', 'POST', { actions });
    const builds = await Promise.all(indices.map((one) => one.startBuild({ ...scope, domain: 'other' })));
    for (const build of builds) await build.abandon();
    const answer = await fetch(`${server.url}/_alias/${aliasOf(own)}`);
    expect(Object.keys((await answer.json()) as object)).toEqual([index]);
    expect((await fetch(`${server.url}/${aliasOf(own)}-0`)).status).toBe(404);
    expect(await searchNear(indices[1])).toEqual(near);
    await indices[1].remove(withVectors);
    await expectWhole(indices[1], own);
    await Promise.all(indices.map((one) => one.close()));
  });

  test('an index that a newer program began to copy can be written again after a long time', async () => {
    const own = settings();
    const index = elasticsearchSearchIndex({ ...own, writeWithinMs: 500 });
    await fill(index, 'first');
    const [current, newer] = [`${aliasOf(own)}-${mappingVersion}`, `${aliasOf(own)}-${mappingVersion + 1}`];
    await request(newer, 'PUT');
    await request(`${current}/_block/write`, 'PUT');
    // The copy may still be running.
    await expect(fill(index, 'second')).rejects.toThrow(SearchUnavailable);
    expect((await fetch(`${server.url}/${newer}`)).status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * 3_600_000 });
    await fill(index, 'second').finally(() => vi.useRealTimers());
    await expectWhole(index, own);
    expect((await fetch(`${server.url}/${newer}`)).status).toBe(404);
    // Another program blocks writes.
    await request(`${current}/_block/write`, 'PUT');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * 3_600_000 });
    const third = fill(index, 'third').finally(() => vi.useRealTimers());
    await expect(third).rejects.toThrow(SearchUnavailable);
    await index.close();
  });

  test('a server that dies during a build has every document once when it is back', async () => {
    const own = settings();
    const index = elasticsearchSearchIndex(own);
    await fill(index, 'first');
    const build = await index.startBuild(scope);
    // Some documents are stored before the server dies, and the others after its restart.
    await build.add(pages('second'));
    await build.add(largePages.map((page) => ({ ...page, path: `large/${page.path}` })));
    await server.kill();
    await expect(index.search({ ...scope, query: 'first', limit: 1 })).rejects.toThrow(SearchUnavailable);
    const committed = build.commit();
    await server.restart();
    expect(await committed).toBe(pageCount * (passagesOfPage + 1));
    expect(await documentCount(own)).toBe(onceThere + 2 * pageCount);
    expect(await index.search({ ...scope, query: 'word31x4', limit: 5 })).toMatchObject([{ path: 'pages/31' }]);
    expect(await index.search({ ...scope, query: 'first', limit: 5 })).toEqual([]);
    await index.close();
  });

  test('a server that hangs is unavailable in every call, and is used again when it continues', async () => {
    const own = { ...settings(), searchWithinMs: 300 };
    const index = elasticsearchSearchIndex(own);
    await fill(index, 'first');
    process.kill(server.pid, 'SIGSTOP');
    try {
      await expect(index.search({ ...scope, query: 'first', limit: 5 })).rejects.toThrow(SearchUnavailable);
      await expect(index.findPage(scope, 'pages/1', [])).rejects.toThrow(SearchUnavailable);
      await expect(index.facets(scope)).rejects.toThrow(SearchUnavailable);
      await expect(index.check('search')).rejects.toThrow(SearchUnavailable);
      await expect(index.check('build')).rejects.toThrow(SearchUnavailable);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    const reader = elasticsearchSearchIndex({ ...own, searchWithinMs: 30_000 });
    await expectWhole(reader, own);
    await Promise.all([index.close(), reader.close()]);
  });
});
