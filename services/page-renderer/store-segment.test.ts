import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { beforeEach, expect, test } from 'vitest';
import { blobKey, segmentKey, sidecarKey } from '#shared/contracts/stored-objects.ts';
import { readTexts, sidecarBytes, type TextKind } from '#shared/export/bundle/packed-segment.ts';
import { readSidecar, readWholeSidecar } from '#shared/export/export-objects.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import { type ObjectStore, ObjectStoreUnavailable } from '#shared/storage/object-store.ts';
import { storeAssets } from './store-segment.ts';

const place = { organization: 'acme', domain: 'docs', key: 'a'.repeat(64) };
const open = new AbortController().signal;
let objectStore: ObjectStore;

beforeEach(async () => {
  objectStore = testObjectStore();
});

const store = async (text: string, sha256 = sha256Of(text)) => {
  await objectStore.put(blobKey('acme', sha256), Buffer.from(text));
  return { sha256, sizeBytes: Buffer.byteLength(text) };
};
const retry = { firstPauseMs: 1, longestPauseMs: 1, giveUpAfterMs: 0 };
const pack = (files: Parameters<typeof storeAssets>[2], to: ObjectStore = objectStore) =>
  storeAssets({ objectStore: to, retry }, place, files, open);

test('files are copied under the top folder, and described', async () => {
  const files = [
    { path: 'images/a.svg', ...(await store('<svg/>')) },
    { path: 'large.bin', ...(await store('x'.repeat(3_000_000))) },
  ];
  await pack(files);
  const sidecar = await readSidecar(objectStore, 'acme', place.key);
  expect(sidecar?.files).toEqual(
    files.map(({ path, sha256, sizeBytes }) => ({ path: `docs/${path}`, size: sizeBytes, sha256 })),
  );
  expect((await objectStore.head(segmentKey('acme', place.key)))?.sizeBytes).toBe(sidecar?.sizeBytes);
});

test('a sidecar can be read without its texts, and damaged texts are none', async () => {
  const digests = { version: 1 as const, sha256: 'a'.repeat(64), crc32: 1, rawLength: 2, sizeBytes: 3 };
  const sidecar = { ...digests, files: [], pages: [], diagnostics: [] };
  const text = { fullText: '# X\n,"texts":[\n', search: '[["","","x"]]' };
  for (const texts of [[], [text], [text, text]]) {
    await objectStore.put(sidecarKey('acme', place.key), await sidecarBytes(sidecar, texts));
    expect(await readSidecar(objectStore, 'acme', place.key)).toMatchObject(sidecar);
    const stored = await readWholeSidecar(objectStore, 'acme', place.key);
    if (stored === undefined) throw new Error('it is not there');
    const { behind } = stored;
    if (texts.length === 0) {
      expect(behind).toHaveLength(0);
      continue;
    }
    const read = async (kind: TextKind) => (await readTexts(stored.sidecar, behind, kind))?.raw.toString();
    expect(await read('search')).toBe('[["","","x"]],\n'.repeat(texts.length));
    expect(await read('fullText')).toBe('# X\n,"texts":[\n\n\n'.repeat(texts.length));
    for (const damaged of [behind.subarray(0, -1), behind.map((byte, at) => (at === 3 ? byte ^ 1 : byte))]) {
      const found = await Promise.all(
        (['search', 'fullText'] as const).map((kind) => readTexts(stored.sidecar, damaged, kind)),
      );
      expect(found.filter((each) => each === undefined)).toHaveLength(1);
    }
  }
});

test('a file that is gone or damaged is named, and nothing is stored', async () => {
  const there = { path: 'a.txt', ...(await store('a')) };
  const gone = { path: 'gone.txt', sha256: sha256Of('gone'), sizeBytes: 4 };
  await expect(pack([there, gone])).rejects.toThrow('the file gone.txt of the content version is gone');
  const damaged = { path: 'b.txt', ...(await store('b', sha256Of('c'))) };
  await expect(pack([there, damaged])).rejects.toThrow('the stored file b.txt of the content version is damaged');
  expect(await objectStore.head(segmentKey('acme', place.key))).toBeUndefined();
});

test('the reason of a store that fails is what is thrown, also when it ends the stream before it says so', async () => {
  const givenUp = Promise.withResolvers<void>();
  const full: ObjectStore = {
    ...objectStore,
    async getStream(key, options) {
      return (await objectStore.getStream(key, options))?.once('close', givenUp.resolve);
    },
    async putStream(_, body) {
      await once(body, 'readable');
      body.destroy(new Error('ENOSPC'));
      await givenUp.promise;
      throw new ObjectStoreUnavailable('no space left');
    },
  };
  const files = [{ path: 'large.bin', ...(await store(randomBytes(3_000_000).toString('hex'))) }];
  await expect(pack(files, full)).rejects.toThrow(ObjectStoreUnavailable);
});
