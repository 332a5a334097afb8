import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { constants, inflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type ExportPlan,
  partShortTextsKey,
  type RenderedPage,
  segmentKey,
  sidecarKey,
  siteModelKey,
} from '#shared/contracts/stored-objects.ts';
import { childPool, type ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import { fitting } from '#shared/docs/sandbox/child-messages.ts';
import { readSidecar, storedSegment } from '#shared/export/export-objects.ts';
import { keptPartKeys } from '#shared/export/kept-parts.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { type ObjectStore, ObjectStoreUnavailable } from '#shared/storage/object-store.ts';
import { siteModel } from '../support/site-model.ts';
import { testObjectStore } from '../support/test-object-store.ts';
import { renderClosing, storedManifest } from '#services/page-renderer/render-closing.ts';
import { renderChild } from '#services/page-renderer/render-pages.ts';
import { digestStates } from '#services/page-renderer/running-digest.ts';
import { packPages, sidecarParts } from '#shared/export/bundle/packed-segment.ts';
import { storeSegment } from '#services/page-renderer/store-segment.ts';

const organization = 'acme';
const domain = 'docs';
const { signal } = new AbortController();
let objectStore: ObjectStore;
let pool: ChildPool;

beforeEach(async () => {
  objectStore = testObjectStore();
});
afterEach(() => pool.close());

const context = () => ({
  objectStore,
  pool,
  digests: digestStates(),
  retry: { firstPauseMs: 1, longestPauseMs: 1, giveUpAfterMs: 0 },
});

/** Stores the segment of a chunk of these pages. */
async function storedChunk(paths: string[], characters: number, searchCharacters: number) {
  const text = 'Words of a page that a reader may look for. '.repeat(Math.ceil(characters / 44)).slice(0, characters);
  const key = sha256Of(`${paths.join()} ${characters}`);
  const pages = paths.map((path) => {
    const fullText = `# ${path}\nSource: /${path}\n\n${text}\n`;
    const search = JSON.stringify([['a', 'A', text.slice(0, 1_200)]]);
    return {
      path,
      title: `Title of ${path}`,
      fullTextBytes: fullText.length,
      searchBytes: search.length,
      searchCharacters,
      fullText,
      search,
      links: [`/${path}#a`, '/nowhere'],
      anchors: ['a'],
      classes: ['mt-4'],
      diagnostics: [],
      feedItems: [],
    };
  });
  const files = paths.map((path) => ({ path: `${path}.html`, body: path }));
  await storeSegment(context(), { organization, domain, key }, await packPages(domain, files, pages), signal);
  return { kind: 'pages' as const, key, paths };
}

/** Stores the segments of a site as rendered chunks leave them; each page has a text of `characters` characters. */
async function storedSite(pageCount: number, pagesInChunk: number, characters: number, searchCharacters = 1_200) {
  const paths = Array.from({ length: pageCount }, (_, at) => `part/page-${String(at).padStart(6, '0')}`);
  const chunks: ExportPlan['chunks'] = [];
  for (let at = 0; at < pageCount; at += pagesInChunk)
    chunks.push(await storedChunk(paths.slice(at, at + pagesInChunk), characters, searchCharacters));
  const model = siteModel(paths.map((path) => ({ path })));
  const plan: ExportPlan = {
    version: 1,
    organization,
    domain,
    contentVersion: model.contentVersion,
    rendererVersion: 'r-000000000000',
    groups: [],
    deployment: 'cloud',
    onPageError: 'fail',
    allowTenantScripts: true,
    pageTotal: pageCount,
    chunks,
    closingKey: sha256Of('closing'),
  };
  await objectStore.put(siteModelKey({ ...plan, organization }), Buffer.from(JSON.stringify(model)));
  return { plan, exported: paths };
}

test('a site whose text is many times the memory of its child is closed', { timeout: 120_000 }, async () => {
  pool = childPool({ ...renderChild, slots: 1, warmSpares: 0, memoryLimitMb: 80 });
  const site = await storedSite(3_000, 16, 20_000);
  const outcome = await renderClosing(context(), site.plan, signal);
  expect(outcome).toMatchObject({ kind: 'rendered' });
  const sidecar = await readSidecar(objectStore, organization, site.plan.closingKey);
  const sizes = new Map(sidecar?.files.map(({ path, size }) => [path, size]));
  expect(sizes.get('docs/llms-full.txt')).toBeGreaterThan(3_000 * 20_000);
  const segment = await objectStore.head(segmentKey(organization, site.plan.closingKey));
  expect(segment?.sizeBytes).toBe(sidecar?.sizeBytes);
  expect(sidecar?.pieces?.reduce((sum, [sizeBytes]) => sum + sizeBytes, 0)).toBe(segment?.sizeBytes);
  // Both texts of each chunk are copied as they are stored.
  expect(sidecar?.pieces?.length).toBeGreaterThan((2 * 3_000) / 16);
  expect(await storedManifest(context(), site.plan, signal)).toBe(
    outcome.kind === 'rendered' && outcome.manifestSha256,
  );
});

/** A child that asks these questions, ignores the answers, and responds as if it had finished. */
const deafChild = (questions: readonly object[], lost: readonly number[] = []): ChildPool => ({
  async run(_request, { expects, answers }) {
    for (const question of questions) await answers?.answer(question).catch(() => undefined);
    return fitting(expects.schema, { kind: 'closed', lost }, 'an answer');
  },
  drain: () => Promise.resolve(),
  close: () => Promise.resolve(),
});

test.each([
  ['ends no file', [{ kind: 'begin', path: 'llms-full.txt', size: 9 }], /in the middle of a file/],
  [
    'gives a file other bytes than it said',
    [{ kind: 'begin', path: 'llms-full.txt', size: 9 }, { kind: 'bytes', bytes: Buffer.from('x') }, { kind: 'end' }],
    /only 1 of 9 bytes/,
  ],
  ['makes no manifest', [], /it made no manifest/],
])('nothing is stored when a child %s', async (_what, questions, why) => {
  pool = deafChild([{ kind: 'part', run: 0 }, ...questions]);
  const site = await storedSite(2, 2, 100);
  await expect(renderClosing(context(), site.plan, signal)).rejects.toThrow(why);
  expect(await readSidecar(objectStore, organization, site.plan.closingKey)).toBeUndefined();
});

test('a child cannot have the same texts inflated for ever, which costs it nothing', async () => {
  const refusals = new Set<string>();
  let answered = 0;
  pool = {
    async run(_request, { answers }) {
      await answers?.answer({ kind: 'part', run: 0 });
      // Two segments are kept, so each question needs another one.
      for (let asked = 0; asked < 90; asked += 1) {
        const question = { kind: 'text', segment: asked % 3, of: 'search', begin: 0, end: 0 };
        await answers?.answer(question).then(
          () => (answered += 1),
          (error: Error) => refusals.add(error.message),
        );
      }
      throw new Error('the test is over');
    },
    drain: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const site = await storedSite(6, 2, 100);
  await expect(renderClosing(context(), site.plan, signal)).rejects.toThrow('the test is over');
  expect([...refusals]).toEqual(['it asked for the same texts too often']);
  expect(answered).toBeLessThan(90);
});

test('a segment is lost if its sidecar is missing, not because a child says so', async () => {
  const site = await storedSite(6, 2, 100);
  const all = [{ kind: 'part', run: 0 }];
  pool = deafChild(all, [0]);
  await expect(renderClosing(context(), site.plan, signal)).rejects.toThrow(/it reported other segments as lost/);
  await objectStore.remove(sidecarKey(organization, site.plan.chunks[2]?.key ?? ''));
  for (const told of [[], [0]]) {
    pool = deafChild(all, told);
    expect(await renderClosing(context(), site.plan, signal)).toEqual({ kind: 'lost', chunks: [2] });
  }
  expect(await readSidecar(objectStore, organization, site.plan.closingKey)).toBeUndefined();
});

test('missing sidecars are all named, and nothing is stored', async () => {
  pool = childPool({ ...renderChild, slots: 1, warmSpares: 0 });
  const site = await storedSite(6, 2, 100);
  for (const lost of [0, 2]) await objectStore.remove(sidecarKey(organization, site.plan.chunks[lost]?.key ?? ''));
  expect(await renderClosing(context(), site.plan, signal)).toEqual({ kind: 'lost', chunks: [0, 2] });
  expect(await objectStore.head(segmentKey(organization, site.plan.closingKey))).toBeUndefined();
});

describe('a segment whose sidecar is damaged is named, and counts as not rendered', () => {
  const stored = async (site: Awaited<ReturnType<typeof storedSite>>, chunk: number) =>
    Buffer.from((await objectStore.get(sidecarKey(organization, site.plan.chunks[chunk]?.key ?? ''))) ?? []);
  const flipped = (bytes: Buffer, at: number, bit: number): Buffer =>
    Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ bit : byte)));
  const endedEarly = (own: Buffer): Buffer => {
    const { json, behind } = sidecarParts(own);
    const { search } = JSON.parse(Buffer.from(json).toString()).texts;
    const all = Array.from({ length: 8 }, (_, bit) => flipped(own, own.length - 5, 1 << bit));
    const isEnded = (one: Buffer): boolean => {
      try {
        return inflateRawSync(one.subarray(-behind.length + search.sizeBytes)).length > 0;
      } catch {
        return false;
      }
    };
    return all.find(isEnded) ?? own;
  };
  const damages: [string, (own: Buffer, other: Buffer) => Buffer][] = [
    ['another byte in a text', (own) => flipped(own, own.length - 20, 1)],
    ['another number in its JSON', (own) => flipped(own, own.indexOf('"fullTextBytes":') + 16, 2)],
    ['another title in its JSON', (own) => flipped(own, own.indexOf('Title of'), 2)],
    // Inflates to the same bytes, but ends the deflate stream before the data that is appended.
    ['a last block in place of the flush', endedEarly],
    ['its end cut off', (own) => own.subarray(0, -1)],
    ['something after its end', (own) => Buffer.concat([own, Buffer.from('}')])],
    ['nothing in it', () => Buffer.from('')],
    ['that of another chunk', (_, other) => other],
  ];
  test.each(damages)('%s', async (_, damage) => {
    pool = childPool({ ...renderChild, slots: 1, warmSpares: 0 });
    const site = await storedSite(6, 2, 100);
    const key = site.plan.chunks[1]?.key ?? '';
    await objectStore.put(sidecarKey(organization, key), damage(await stored(site, 1), await stored(site, 0)));
    expect(await renderClosing(context(), site.plan, signal)).toEqual({ kind: 'lost', chunks: [1] });
    expect(await storedSegment(objectStore, organization, key, readSidecar)).toBeUndefined();
    expect(await objectStore.head(segmentKey(organization, site.plan.closingKey))).toBeUndefined();
  });
});

/** Stores texts for the chunk of one page. They are too large for the cache, as are all texts that are read later. */
async function storeLarge(site: Awaited<ReturnType<typeof storedSite>>, chunk: number): Promise<string> {
  const place = { organization, domain, key: site.plan.chunks[chunk]?.key ?? '' };
  const fullText = randomBytes(33 * 1024 * 1024).toString('base64');
  const page = { ...(await readSidecar(objectStore, organization, place.key))?.pages[0], fullText, search: '[]' };
  const large = { ...page, fullTextBytes: fullText.length, searchBytes: 2 } as RenderedPage;
  await storeSegment(context(), place, await packPages(domain, [], [large]), signal);
  return sidecarKey(organization, place.key);
}

test('a segment whose sidecar vanishes before its texts were read is named', async () => {
  pool = childPool({ ...renderChild, slots: 1, warmSpares: 0 });
  const site = await storedSite(2, 1, 100);
  const large = await storeLarge(site, 1);
  const vanishing: ObjectStore = {
    ...objectStore,
    async get(key, options) {
      const found = await objectStore.get(key, options);
      if (key === large) await objectStore.remove(key);
      return found;
    },
  };
  const outcome = await renderClosing({ ...context(), objectStore: vanishing }, site.plan, signal);
  expect(outcome).toEqual({ kind: 'lost', chunks: [1] });
});

test('texts that are not kept are read once for all pages of a segment, also where each is cut shorter', async () => {
  pool = childPool({ ...renderChild, slots: 1, warmSpares: 0 });
  const site = await storedSite(33, 1, 100, 2 * 1024 * 1024);
  const chunks = [site.plan.chunks[0], await storedChunk(site.exported.slice(1), 100, 2 * 1024 * 1024)];
  const plan = { ...site.plan, chunks: chunks.flatMap((chunk) => chunk ?? []) };
  const large = await storeLarge(site, 0);
  const small = sidecarKey(organization, chunks[1]?.key ?? '');
  let reads = 0;
  const { promise: largeIsRead, resolve } = Promise.withResolvers<void>();
  const counting: ObjectStore = {
    ...objectStore,
    async get(key, options) {
      const found = await objectStore.get(key, options);
      if (key === large) setImmediate(resolve);
      if (key !== small) return found;
      reads += 1;
      await largeIsRead;
      return found;
    },
    getStream(key, options) {
      if (key === small) reads += 1;
      return objectStore.getStream(key, options);
    },
  };
  const outcome = await renderClosing({ ...context(), objectStore: counting }, plan, signal);
  expect(outcome).toMatchObject({ kind: 'rendered' });
  // One read for the sidecar, then one for the texts of each kind.
  expect(reads).toBe(3);
});

test('a site is closed with a store that refuses one read of ten', async () => {
  pool = childPool({ ...renderChild, slots: 1, warmSpares: 0 });
  const site = await storedSite(40, 1, 100);
  let reads = 0;
  const refusing: ObjectStore = {
    ...objectStore,
    async get(key, options) {
      reads += 1;
      if (reads % 10 === 0) throw new ObjectStoreUnavailable('slow down');
      return objectStore.get(key, options);
    },
  };
  const retry = { firstPauseMs: 1, longestPauseMs: 1, giveUpAfterMs: 2_000 };
  const outcome = await renderClosing({ ...context(), objectStore: refusing, retry }, site.plan, signal);
  expect(outcome).toMatchObject({ kind: 'rendered' });
  expect(reads).toBeLessThan(60);
});

test('a store that is unavailable in the middle of the upload, as a full disk is, gets the segment again', async () => {
  pool = childPool({ ...renderChild, slots: 1, warmSpares: 0 });
  const site = await storedSite(40, 4, 20_000);
  let uploads = 0;
  const full: ObjectStore = {
    ...objectStore,
    async putStream(key, body, options) {
      uploads += 1;
      if (uploads > 2) return objectStore.putStream(key, body, options);
      await once(body, 'readable');
      throw new ObjectStoreUnavailable('no space left');
    },
  };
  const retry = { firstPauseMs: 1, longestPauseMs: 1, giveUpAfterMs: 20_000 };
  const outcome = await renderClosing({ ...context(), objectStore: full, retry }, site.plan, signal);
  expect(outcome).toMatchObject({ kind: 'rendered' });
  expect(uploads).toBe(3);
});

test('texts of pages are copied whole; those of the search are cut shorter where a site has too many', async () => {
  pool = childPool({ ...renderChild, slots: 1, warmSpares: 0 });
  const filesOf = async (site: Awaited<ReturnType<typeof storedSite>>): Promise<string> => {
    await renderClosing(context(), site.plan, signal);
    const segment = await objectStore.get(segmentKey(organization, site.plan.closingKey));
    await objectStore.remove(sidecarKey(organization, site.plan.closingKey));
    return inflateRawSync(segment ?? '', { finishFlush: constants.Z_SYNC_FLUSH }).toString();
  };
  const searched = (files: string): number[] =>
    [...files.matchAll(/\["a","A","(.*?)"\]/g)].map(([, text = '']) => text.length);
  const small = await filesOf(await storedSite(5, 2, 2_000));
  expect(searched(small)).toEqual(Array.from({ length: 5 }, () => 1_200));
  const parts = small.match(/# part\/page-\d+\nSource: \/part\/page-\d+\n\n[^\n]{2000}\n(?=\n\n[#\0])/g);
  expect(parts).toHaveLength(5);
  const large = await filesOf(await storedSite(4, 2, 2_000, 12 * 1024 * 1024));
  expect(searched(large)).toEqual(Array.from({ length: 4 }, () => 600));
});

/** The same pool, and the number of texts that a child was given to shorten. */
function countingTexts(children: ChildPool): { children: ChildPool; count: () => number } {
  let count = 0;
  const run: ChildPool['run'] = (request, { answers, ...options }) => {
    const answer = async (question: unknown): Promise<unknown> => {
      if ((question as { kind?: unknown }).kind === 'text') count += 1;
      return answers?.answer(question);
    };
    return children.run(request, { ...options, ...(answers && { answers: { ...answers, answer } }) });
  };
  return { children: { ...children, run }, count: () => count };
}

test('texts of the search that were cut shorter are kept, and made again where they are missing, damaged or changed', {
  timeout: 120_000,
}, async () => {
  pool = childPool({ ...renderChild, slots: 1, warmSpares: 0 });
  const site = await storedSite(160, 2, 2_000, 12 * 1024 * 1024);
  const closed = async (of = site, options = {}): Promise<{ bytes: Buffer; shortened: number }> => {
    const { children, count } = countingTexts(pool);
    expect(await renderClosing({ ...context(), pool: children }, of.plan, signal, options)).toMatchObject({
      kind: 'rendered',
    });
    const bytes = await objectStore.get(segmentKey(organization, of.plan.closingKey));
    return { bytes: Buffer.from(bytes ?? ''), shortened: count() };
  };
  const cold = await closed();
  expect(cold.shortened).toBe(80);
  const names = keptPartKeys(site.plan).map((key) => partShortTextsKey(organization, key));
  const kept = await Promise.all(names.map(async (name) => Buffer.from((await objectStore.get(name)) ?? '')));
  expect(kept.length).toBeGreaterThan(2);
  const [first = Buffer.of(), second] = kept;
  const flipped = (at: number): Buffer => Buffer.from(first.map((byte, index) => (index === at ? byte ^ 1 : byte)));
  const damages = [
    first,
    undefined,
    Buffer.of(),
    first.subarray(0, -1),
    second,
    flipped(3),
    flipped(first.length >> 1),
  ];
  for (const [number, damage] of [...damages, flipped(first.length - 1)].entries()) {
    const name = names[0] ?? '';
    if (damage === undefined) await objectStore.remove(name);
    else await objectStore.put(name, damage);
    const again = await closed();
    expect([number, again.bytes.equals(cold.bytes)]).toEqual([number, true]);
    expect(again.shortened > 0 && again.shortened < 80).toBe(number > 0);
    expect(first.equals((await objectStore.get(name)) ?? Buffer.of())).toBe(true);
  }
  expect(await closed(site, { anew: true })).toEqual(cold);

  const chunk = await storedChunk(site.exported.slice(-2), 1_000, 12 * 1024 * 1024);
  const changed = { ...site, plan: { ...site.plan, chunks: [...site.plan.chunks.slice(0, -1), chunk] } };
  const warm = await closed(changed);
  expect(warm.bytes.equals(cold.bytes)).toBe(false);
  expect(warm.shortened > 0 && warm.shortened < 80).toBe(true);
  expect(await closed(changed, { anew: true })).toEqual({ bytes: warm.bytes, shortened: 80 });
});
