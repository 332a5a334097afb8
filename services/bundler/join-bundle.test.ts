import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { packSegment } from '#shared/export/bundle/segment-writer.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import {
  bundleHeaderBytes,
  bundleKey,
  bundlePiecesKey,
  bundlePiecesSchema,
  planKey,
  segmentKey,
  sidecarKey,
} from '#shared/contracts/stored-objects.ts';
import { segmentsDigest } from '#shared/export/export-objects.ts';
import { exportPlan } from '../../test/support/make-commit.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { joinBundle, type KnownDigests, storedBundle } from './join-bundle.ts';

const organization = 'acme';
const planHash = 'd'.repeat(64);
const key = (name: string) => sha256Of(name);
const open = new AbortController().signal;
const plan = exportPlan({
  pageTotal: 1,
  chunks: [
    { kind: 'site', key: key('site') },
    { kind: 'pages', key: key('pages'), paths: ['a'] },
  ],
  closingKey: key('closing'),
});

let folder: string;
let objectStore: ObjectStore;
let uploads: number;

beforeEach(async () => {
  folder = newFolder();
  const store = testObjectStore(folder);
  uploads = 0;
  objectStore = {
    ...store,
    putParts: async (...call) => {
      await store.putParts(...call);
      uploads += 1;
    },
  };
  const site = await storeSegment('site', 'docs/theme.css');
  const pages = await storeSegment('pages', 'docs/a.html');
  await storeSegment('closing', 'docs/_bindery/manifest.json', segmentsDigest([site, pages]));
});

async function storeSegment(name: string, path: string, from?: string) {
  const { bytes, ...summary } = await packSegment([{ path, body: Buffer.from(`${name} ${'words '.repeat(50)}`) }]);
  const sidecar = { version: 1, ...summary, pages: [], diagnostics: [], ...(from && { madeFrom: from }) };
  await objectStore.put(segmentKey(organization, key(name)), bytes);
  await objectStore.put(sidecarKey(organization, key(name)), Buffer.from(JSON.stringify(sidecar)));
  return summary;
}
const run = (now = new Date()) => joinBundle(objectStore, plan, planHash, { clock: { now: () => now }, signal: open });
const hasSidecar = async (name: string) => (await objectStore.head(sidecarKey(organization, key(name)))) !== undefined;

test('segments in plan order, the closing one last; size and digest are those of what is stored', async () => {
  const outcome = await run();
  expect(outcome).toMatchObject({ kind: 'joined', bundleKey: `bundles/acme/docs/${planHash}.tar.gz` });
  if (outcome.kind !== 'joined') return;
  const bundle = Buffer.from((await objectStore.get(outcome.bundleKey)) ?? '');
  expect([bundle.length, sha256Of(bundle)]).toEqual([outcome.sizeBytes, outcome.sha256]);
  const { sha256, piecesSha256 } = outcome;
  expect((await objectStore.head(outcome.bundleKey))?.metadata).toEqual({ sha256, pieces: piecesSha256 });
  const archive = gunzipSync(bundle).toString('latin1');
  const places = ['docs/theme.css', 'docs/a.html', 'docs/_bindery/manifest.json'].map((path) => archive.indexOf(path));
  expect(places).toEqual([0, 1024, 2048]);
});

test('the pieces of a bundle are listed beside it, and are its bytes after the header', async () => {
  const outcome = await run();
  if (outcome.kind !== 'joined') throw new Error(outcome.reason);
  const listed = Buffer.from((await objectStore.get(bundlePiecesKey(outcome.bundleKey))) ?? '');
  expect(sha256Of(listed)).toBe(outcome.piecesSha256);
  const { pieces } = bundlePiecesSchema.parse(JSON.parse(listed.toString()));
  const bundle = Buffer.from((await objectStore.get(outcome.bundleKey)) ?? '');
  let at = bundleHeaderBytes;
  const found = pieces.map(([size]) => sha256Of(bundle.subarray(at, (at += size))));
  expect(found).toEqual(pieces.map(([, sha256]) => sha256));
  expect(bundle.length - at).toBeLessThan(2_000);
  const again = () => storedBundle(objectStore, outcome.bundleKey, { now: () => new Date() }, open);
  expect((await again())?.piecesSha256).toBe(outcome.piecesSha256);
  await objectStore.remove(bundlePiecesKey(outcome.bundleKey));
  expect(await again()).toEqual({ sizeBytes: outcome.sizeBytes, sha256: outcome.sha256 });
});

test('sidecars of a joined bundle are not read again, unless something in it is lost', async () => {
  const known: KnownDigests = new Map();
  const read: string[] = [];
  const store = objectStore;
  objectStore = {
    ...store,
    getStream: (name, ...options) => {
      if (name.endsWith('.json')) read.push(name);
      return store.getStream(name, ...options);
    },
  };
  const again = () =>
    joinBundle(objectStore, plan, planHash, { clock: { now: () => new Date() }, signal: open, known });
  const joined = await again();
  expect(read.splice(0)).toHaveLength(3);
  expect(await again()).toEqual(joined);
  expect(read).toEqual([]);

  // The page is rendered again, to other bytes, and the site is closed again.
  const pages = await storeSegment('pages', 'docs/b.html');
  const site = await storeSegment('site', 'docs/theme.css');
  await storeSegment('closing', 'docs/_bindery/manifest.json', segmentsDigest([site, pages]));
  const other = await again();
  expect(other).toMatchObject({ kind: 'joined' });
  expect(other).not.toEqual(joined);
  expect(read.splice(0)).toHaveLength(3);

  await objectStore.remove(segmentKey(organization, key('pages')));
  expect(await again()).toMatchObject({ kind: 'lost', chunks: [1] });
});

describe('after another plan', () => {
  const laterHash = 'e'.repeat(64);
  const later = {
    ...plan,
    chunks: plan.chunks.map((chunk) => (chunk.kind === 'pages' ? { ...chunk, key: key('new') } : chunk)),
    closingKey: key('later'),
  };
  let whole: Awaited<ReturnType<typeof joinBundle>>;
  let read: string[];
  let sidecars: string[];

  /** Joins the later plan and records which segments, sidecars and bundles are read for it. */
  async function joinLater(after?: string) {
    const store = objectStore;
    [read, sidecars] = [[], []];
    const reading =
      <A extends unknown[], R>(get: (name: string, ...rest: A) => R) =>
      (name: string, ...rest: A): R => {
        if (!name.endsWith('.json')) read.push(name);
        else if (name.startsWith('segments/')) sidecars.push(name);
        return get(name, ...rest);
      };
    const get = reading((...call: Parameters<ObjectStore['get']>) => store.get(...call));
    const getStream = reading((...call: Parameters<ObjectStore['getStream']>) => store.getStream(...call));
    const counted = { ...store, get, getStream };
    const options = { clock: { now: () => new Date() }, signal: open, after };
    return joinBundle(counted, later, laterHash, options);
  }

  beforeEach(async () => {
    const text = JSON.stringify(plan);
    await objectStore.put(planKey(organization, planHash), Buffer.from(text));
    await run();
    const site = await storeSegment('site', 'docs/theme.css');
    const pages = await storeSegment('new', 'docs/new.html');
    await storeSegment('later', 'docs/_bindery/manifest.json', segmentsDigest([site, pages]));
    whole = await joinLater();
    await objectStore.remove(bundleKey(organization, 'docs', laterHash));
  });

  const bundle = bundleKey(organization, 'docs', planHash);
  const site = segmentKey(organization, key('site'));

  test('what is the same is read from its bundle, and the bytes are the same', async () => {
    expect(await joinLater(planHash)).toEqual(whole);
    expect(read).toContain(bundle);
    expect(read).not.toContain(site);
  });

  test('each sidecar is read once, also that of a segment which both bundles have', async () => {
    await joinLater(planHash);
    const names = ['site', 'new', 'later', 'pages', 'closing'].map((name) => sidecarKey(organization, key(name)));
    expect(sidecars.toSorted()).toEqual(names.toSorted());
  });

  test.each<[string, () => Promise<void>]>([
    ['is gone', () => objectStore.remove(bundle)],
    ['has no plan any more', () => objectStore.remove(planKey(organization, planHash))],
    ['was cut', () => cut(bundle)],
    [
      'has other bytes',
      async () => {
        const bytes = Buffer.from((await objectStore.get(bundle)) ?? '');
        bytes[20] = (bytes[20] ?? 0) ^ 1;
        await objectStore.put(bundle, bytes, { metadata: { sha256: sha256Of(bytes) } });
      },
    ],
  ])('whose bundle %s, all segments are read', async (_, change) => {
    await change();
    expect(await joinLater(planHash)).toEqual(whole);
    expect(read).toContain(site);
  });

  test('a closing segment that ends before its changed pieces is reported and loses its sidecar', async () => {
    const [site, added] = [await storeSegment('site', 'docs/theme.css'), await storeSegment('new', 'docs/new.html')];
    const name = segmentKey(organization, key('later'));
    await storeSegment('later', 'docs/_bindery/manifest.json', segmentsDigest([site, added]));
    const bytes = Buffer.from((await objectStore.get(name)) ?? '');
    const described = sidecarKey(organization, key('later'));
    const sidecar = JSON.parse(Buffer.from((await objectStore.get(described)) ?? '').toString());
    // The first piece of the new bundle is the site segment, which the last bundle has.
    const begin = Buffer.from((await objectStore.get(segmentKey(organization, key('site')))) ?? '');
    const pieces = [begin, bytes].map((piece) => [piece.length, sha256Of(piece)]);
    const all = Buffer.concat([begin, bytes]);
    const facts = { sha256: sha256Of(all), sizeBytes: all.length, rawLength: site.rawLength + sidecar.rawLength };
    await objectStore.put(described, Buffer.from(JSON.stringify({ ...sidecar, ...facts, pieces })));
    await objectStore.put(name, all.subarray(0, begin.length - 10));
    expect(await joinLater(planHash)).toMatchObject({ kind: 'lost', chunks: [-1] });
    expect([await hasSidecar('later'), await hasSidecar('site')]).toEqual([false, true]);
  });

  test('damage to a new segment is still found', async () => {
    await cut(segmentKey(organization, key('new')));
    expect(await joinLater(planHash)).toMatchObject({ kind: 'lost', chunks: [1] });
    expect([await hasSidecar('new'), await hasSidecar('site')]).toEqual([false, true]);
  });
});

test('the same bytes are not uploaded again', async () => {
  expect(await run()).toEqual(await run());
  expect(uploads).toBe(1);
});

test('the same bytes are stored again when they are old: housekeeping may be about to remove them', async () => {
  const joined = await run();
  expect(await run(new Date(Date.now() + 24 * 3_600_000))).toEqual(joined);
  expect(uploads).toBe(2);
});

test('a bundle whose bytes changed in the store is stored again', async () => {
  const joined = await run();
  if (joined.kind !== 'joined') throw new Error('The bundle is joined.');
  const whole = Buffer.from((await objectStore.get(joined.bundleKey)) ?? '');
  const damaged = Buffer.from(whole);
  damaged[30] = (damaged[30] ?? 0) ^ 1;
  await objectStore.put(joined.bundleKey, damaged, { metadata: { sha256: joined.sha256 } });
  expect(await run()).toEqual(joined);
  expect(Buffer.from((await objectStore.get(joined.bundleKey)) ?? '')).toEqual(whole);
  expect(uploads).toBe(2);
});

test('a stored bundle is the answer as long as its bytes are those that were stored, and no housekeeping removes it', async () => {
  const stored = (now = new Date()) =>
    storedBundle(objectStore, `bundles/acme/docs/${planHash}.tar.gz`, { now: () => now }, open);
  expect(await stored()).toBeUndefined();
  const joined = await run();
  if (joined.kind !== 'joined') throw new Error('The bundle is joined.');
  const { bundleKey, sizeBytes, sha256, piecesSha256 } = joined;
  expect(await stored()).toEqual({ sizeBytes, sha256, piecesSha256 });
  expect(await stored(new Date(Date.now() + 24 * 3_600_000))).toBeUndefined();
  const bytes = Buffer.from((await objectStore.get(bundleKey)) ?? '');
  await objectStore.put(bundleKey, bytes);
  expect(await stored()).toBeUndefined();
  bytes[30] = (bytes[30] ?? 0) ^ 1;
  await objectStore.put(bundleKey, bytes, { metadata: { sha256 } });
  expect(await stored()).toBeUndefined();
});

test('missing sidecars are reported, all of them', async () => {
  await objectStore.remove(sidecarKey(organization, key('site')));
  await objectStore.put(sidecarKey(organization, key('closing')), Buffer.from('{'));
  expect(await run()).toMatchObject({ kind: 'lost', chunks: [0, -1] });
  expect(uploads).toBe(0);
});

test('a damaged segment is reported and loses its sidecar, and no bundle is stored', async () => {
  const damaged = segmentKey(organization, key('pages'));
  const bytes = Buffer.from((await objectStore.get(damaged)) ?? '');
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  await objectStore.put(damaged, bytes);
  expect(await run()).toMatchObject({ kind: 'lost', chunks: [1] });
  expect([await hasSidecar('pages'), await hasSidecar('site'), uploads]).toEqual([false, true, 0]);
});

test('a missing segment is reported, too', async () => {
  await objectStore.remove(segmentKey(organization, key('closing')));
  expect(await run()).toMatchObject({ kind: 'lost', chunks: [-1] });
  expect(await hasSidecar('closing')).toBe(false);
});

test('all segments that are damaged are reported at once: after each report the site is closed again', async () => {
  await objectStore.remove(segmentKey(organization, key('site')));
  await objectStore.put(segmentKey(organization, key('closing')), Buffer.from('something else'));
  expect(await run()).toMatchObject({ kind: 'lost', chunks: [0, -1] });
  expect(await Promise.all(['site', 'pages', 'closing'].map(hasSidecar))).toEqual([false, true, false]);
});

/** Simulates a disk that loses the end of a file. */
const cut = (objectKey: string) => truncate(join(folder, 'stored', `${objectKey}#`), 40);

test('a segment whose file was cut is reported and loses its sidecar', async () => {
  await cut(segmentKey(organization, key('pages')));
  expect(await run()).toMatchObject({ kind: 'lost', chunks: [1] });
  expect([await hasSidecar('pages'), await hasSidecar('site'), uploads]).toEqual([false, true, 0]);
});

test('a bundle whose file was cut is stored again', async () => {
  const joined = await run();
  if (joined.kind !== 'joined') throw new Error('The bundle is joined.');
  await cut(joined.bundleKey);
  expect(await run()).toEqual(joined);
  expect(sha256Of(Buffer.from((await objectStore.get(joined.bundleKey)) ?? ''))).toBe(joined.sha256);
});

test('a closing segment that was made from other segments is made again', async () => {
  await storeSegment('pages', 'docs/b.html');
  expect(await run()).toMatchObject({ kind: 'lost', chunks: [-1] });
  expect(await hasSidecar('closing')).toBe(false);
});
