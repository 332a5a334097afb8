import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { type RenderedPage, type SegmentSidecar, segmentSidecarSchema } from '#shared/contracts/stored-objects.ts';
import { deflateWhole, inflatePieces, pieceBytes, windowBytes } from './deflated-bytes.ts';
import {
  hasRightSum,
  packPages,
  readTexts,
  sidecarBytes,
  sidecarJson,
  sidecarOf,
  sidecarParts,
  withSum,
} from './packed-segment.ts';

const page = (path: string, fullText: string, search: string): RenderedPage => ({
  path,
  title: path,
  fullTextBytes: Buffer.byteLength(fullText),
  searchBytes: Buffer.byteLength(search),
  searchCharacters: search.length,
  links: [],
  ...{ anchors: [], classes: [], diagnostics: [], feedItems: [] },
  fullText,
  search,
});
const pages = [page('index', '# Größe', '[["","","Größe"]]'), page('a/b', 'Words '.repeat(300), '[]')];
const files = [
  { path: 'index.html', body: '<h1>Größe</h1>' },
  { path: 'a/b.html', body: '<p>' },
];

const read = (sidecar: Uint8Array) => {
  const { json, behind } = sidecarParts(sidecar);
  return { sidecar: segmentSidecarSchema.parse(JSON.parse(Buffer.from(json).toString())), behind };
};

test('a chunk is packed under its top folder, and its sidecar describes the bytes', async () => {
  const packed = await packPages('docs', files, pages);
  const { sidecar } = read(packed.sidecar);
  expect(sidecar).toMatchObject({
    version: 1,
    sizeBytes: packed.segment.length,
    files: [
      { path: 'docs/index.html', size: 16 },
      { path: 'docs/a/b.html', size: 3 },
    ],
    pages: [{ path: 'index', title: 'index' }, { path: 'a/b' }],
    diagnostics: [],
  });
  expect(Object.keys(sidecar.pages[0] ?? {})).not.toContain('fullText');
  const raw = await inflatePieces(packed.segment, sidecar.rawLength);
  expect(crc32(raw)).toBe(sidecar.crc32);
});

test('the texts of all pages can be read from a sidecar, and copied as they are deflated', async () => {
  const { sidecar, behind } = read((await packPages('docs', files, pages)).sidecar);
  const [search, fullText] = [await readTexts(sidecar, behind, 'search'), await readTexts(sidecar, behind, 'fullText')];
  expect(Buffer.from(search?.raw ?? []).toString()).toBe('[["","","Größe"]],\n[],\n');
  expect(Buffer.from(fullText?.raw ?? []).toString()).toBe(`# Größe\n\n${'Words '.repeat(300)}\n\n`);
  expect(Buffer.concat([search?.deflated ?? Buffer.of(), fullText?.deflated ?? Buffer.of()]).equals(behind)).toBe(true);
});

test('texts that are cut, changed or too short for their length are refused', async () => {
  const { sidecar, behind } = read((await packPages('docs', files, pages)).sidecar);
  const { texts } = sidecar;
  if (texts === undefined) throw new Error('The sidecar has no texts.');
  expect(await readTexts(sidecar, behind.subarray(0, -1), 'fullText')).toBeUndefined();
  expect(await readTexts(sidecar, behind.subarray(0, -1), 'search')).toBeDefined();
  const changed = Buffer.from(behind);
  changed[2] = (changed[2] ?? 0) ^ 4;
  expect(await readTexts(sidecar, changed, 'search')).toBeUndefined();
  const withSearch = (more: object): Pick<SegmentSidecar, 'texts'> => ({
    texts: { ...texts, search: { ...texts.search, ...more } },
  });
  expect(await readTexts(withSearch({ crc32: texts.search.crc32 ^ 1 }), behind, 'search')).toBeUndefined();
  expect(await readTexts(withSearch({ rawLength: texts.search.rawLength - 1 }), behind, 'search')).toBeUndefined();
  expect(await readTexts(withSearch({ rawLength: 1_000_000 }), behind, 'search')).toBeUndefined();
  expect(await readTexts({}, behind, 'search')).toBeUndefined();
});

test('a sidecar without pages is only JSON', async () => {
  const summary = { sha256: 'a'.repeat(64), crc32: 1, rawLength: 512, sizeBytes: 9, files: [] };
  const stored = await sidecarBytes(sidecarOf(summary), []);
  expect(JSON.parse(stored.toString())).toEqual({ version: 1, pages: [], diagnostics: [], ...summary });
  const { json, behind } = sidecarParts(stored);
  expect([Buffer.from(json).equals(stored), behind.length]).toEqual([true, 0]);
});

test('a sum shows a changed sidecar, and one of another segment', async () => {
  const { sidecar } = await packPages('docs', files, pages);
  const stored = withSum('segments/acme/one', sidecar);
  expect(stored.toString('latin1', 0, 18)).toMatch(/^\{"sum":"[0-9a-f]{8}",$/);
  expect(hasRightSum('segments/acme/one', stored)).toBe(true);
  expect(hasRightSum('segments/acme/two', stored)).toBe(false);
  for (const at of [10, 18, stored.length - 1]) {
    const changed = Buffer.from(stored);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(hasRightSum('segments/acme/one', changed)).toBe(false);
  }
  expect(read(stored).sidecar).toEqual(read(sidecar).sidecar);
  // Other versions store sidecars without a sum.
  expect(hasRightSum('segments/acme/one', sidecar)).toBe(true);
});

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([1, 7, 100, 10_000])('a sidecar that is read in pieces of %i bytes is JSON without texts', async (size) => {
  const { sidecar } = await packPages('docs', files, pages);
  const stored = withSum('segments/acme/one', sidecar);
  const kept: number[] = [];
  const readJson = (key: string, bytes: Uint8Array) =>
    sidecarJson(key, cut(bytes, size), async (count) => void kept.push(count));
  const { json } = sidecarParts(stored);
  expect(String(await readJson('segments/acme/one', stored))).toBe(String(json));
  expect(kept).toEqual(kept.map((_, at) => Math.min(stored.length, (at + 1) * size)));
  // The beginning of the texts may have come with the end of the JSON.
  expect(kept.at(-1)).toBeLessThan(json.length + ',"texts":[\n'.length + size);
  expect(await readJson('segments/acme/two', stored)).toBeUndefined();
  for (const at of [10, 18, stored.length - 1]) {
    const changed = Buffer.from(stored);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(await readJson('segments/acme/one', changed)).toBeUndefined();
  }
  // Other versions store sidecars without a sum.
  expect(String(await readJson('segments/acme/one', sidecar))).toBe(String(sidecarParts(sidecar).json));
});

test('a sum has eight digits', () => {
  // The CRC-32 of this key and sidecar begins with a zero.
  const short = Array.from({ length: 200 }, (_, n) => withSum(String(n), Buffer.from('{}'))).map((stored) =>
    stored.toString('latin1', 8, 16),
  );
  expect(short.some((sum) => sum.startsWith('0'))).toBe(true);
  expect(short.every((sum) => /^[0-9a-f]{8}$/.test(sum))).toBe(true);
});

test.each([1, pieceBytes, pieceBytes + 1, 9 * pieceBytes])(
  'pieces of %i bytes are inflated, and nothing else is',
  async (length) => {
    const raw = Buffer.alloc(length, 'some words, ');
    const deflated = await deflateWhole(raw);
    expect((await inflatePieces(deflated, length)).equals(raw)).toBe(true);
    await expect(inflatePieces(deflated, length + 1)).rejects.toThrow('deflate data');
    await expect(inflatePieces(deflated, length - 1)).rejects.toThrow('larger than');
    await expect(inflatePieces(deflated.subarray(0, -1), length)).rejects.toThrow('invalid stored block');
    // A last block ends the data, so a reader would ignore everything after it.
    const ended = Buffer.concat([deflated, Buffer.from([1, 0, 0, 0xff, 0xff])]);
    await expect(inflatePieces(ended, length)).rejects.toThrow('not made of whole pieces');
    // An open stored block of 37 bytes would contain the first bytes of the next segment, and the bundle would end after them.
    const open = Buffer.concat([deflated, Buffer.from([1, 37, 0, 0xda, 0xff])]);
    await expect(inflatePieces(open, length + 5)).rejects.toThrow('not made of whole pieces');
    // Nothing is inflated into memory for a length that the data cannot have.
    await expect(inflatePieces(deflated, deflated.length * 2_000)).rejects.toThrow('too short for its length');
  },
);

test('a piece refers to the end of the piece before it', async () => {
  const words = randomBytes(windowBytes / 2);
  const pieces = Buffer.concat(Array.from({ length: (2 * pieceBytes) / words.length }, () => words));
  expect((await deflateWhole(pieces)).length).toBeLessThan(1.5 * words.length);
});
