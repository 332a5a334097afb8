import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { segmentKey, sidecarKey } from '#shared/contracts/stored-objects.ts';
import { sidecarBytes, sidecarOf } from '#shared/export/bundle/packed-segment.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { DamagedObject, type ObjectStore } from '#shared/storage/object-store.ts';
import { presentChunks } from './present-chunks.ts';

const organization = 'acme';
const bytes = Buffer.from('a segment');
const sidecar = await sidecarBytes(
  sidecarOf({ sha256: sha256Of('x'), crc32: 1, rawLength: 20, sizeBytes: bytes.length, files: [] }),
  [],
);
const chunksOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ key: sha256Of(String(at)), pageCount: 2 }));

/** A store with complete segments of these chunks; it counts reads. */
function storeOf(chunks: readonly { key: string }[], sizeOf: (key: string) => number | undefined = () => bytes.length) {
  const sidecars = new Set(chunks.map(({ key }) => sidecarKey(organization, key)));
  const segments = new Set(chunks.map(({ key }) => segmentKey(organization, key)));
  const asked: string[] = [];
  const store: Pick<ObjectStore, 'getStream' | 'head'> = {
    getStream: async (key) => {
      asked.push(key);
      return sidecars.has(key) ? Readable.from([sidecar]) : undefined;
    },
    head: async (key) => {
      const sizeBytes = segments.has(key) ? sizeOf(key) : undefined;
      return sizeBytes === undefined ? undefined : { sizeBytes, modifiedAt: new Date(0), metadata: {} };
    },
  };
  return { store: store as ObjectStore, asked };
}

test('chunks that are stored are found, in their order, with the number of their pages', async () => {
  const chunks = chunksOf(100);
  const { store } = storeOf(chunks.filter((_, at) => at !== 48));
  const found = await presentChunks(store, organization, chunks);
  expect(found.map(({ chunk }) => chunk)).toEqual([...chunks.keys()].filter((at) => at !== 48));
  expect(found[0]).toEqual({ chunk: 0, pageCount: 2 });
});

test('a segment that is gone or cut is not there, whatever its sidecar says', async () => {
  const chunks = chunksOf(5);
  const sizes = new Map([
    [segmentKey(organization, chunks[1]?.key ?? ''), undefined],
    [segmentKey(organization, chunks[3]?.key ?? ''), 3],
  ]);
  const { store } = storeOf(chunks, (key) => (sizes.has(key) ? sizes.get(key) : bytes.length));
  const found = await presentChunks(store, organization, chunks);
  expect(found.map(({ chunk }) => chunk)).toEqual([0, 2, 4]);
});

test('a segment that the store finds damaged is not there', async () => {
  const chunks = chunksOf(5);
  const { store } = storeOf(chunks, (key) => {
    if (key === segmentKey(organization, chunks[2]?.key ?? '')) throw new DamagedObject('it was cut');
    return bytes.length;
  });
  const found = await presentChunks(store, organization, chunks);
  expect(found.map(({ chunk }) => chunk)).toEqual([0, 1, 3, 4]);
});

test('only some chunks of a new site are checked', async () => {
  const { store, asked } = storeOf([]);
  expect(await presentChunks(store, organization, chunksOf(2_000))).toEqual([]);
  expect(asked.length).toBeLessThan(10);
});

test('chunks of a joined bundle are not looked for one by one', async () => {
  const chunks = chunksOf(1_100);
  const { store, asked } = storeOf(chunks);
  const joined = new Set(chunks.filter((_, at) => at !== 333).map(({ key }) => key));
  expect(await presentChunks(store, organization, chunks, joined)).toHaveLength(1_100);
  expect(asked).toContain(sidecarKey(organization, chunks[333]?.key ?? ''));
  expect(asked.length).toBeLessThan(12);
});

test('all chunks are looked for when some of a joined bundle were swept', async () => {
  const chunks = chunksOf(80);
  const { store } = storeOf(chunks.filter((_, at) => at !== 40 && at !== 41));
  const joined = new Set(chunks.map(({ key }) => key));
  const found = await presentChunks(store, organization, chunks, joined);
  expect(found.map(({ chunk }) => chunk)).toEqual([...chunks.keys()].filter((at) => at !== 40 && at !== 41));
});
