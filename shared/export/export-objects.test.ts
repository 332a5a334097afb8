import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { sidecarKey } from '#shared/contracts/stored-objects.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { packPages, sidecarBytes, sidecarOf, withSum } from './bundle/packed-segment.ts';
import { readSegmentDigest, readSidecar } from './export-objects.ts';

const megabyte = 1024 * 1024;
const summary = { sha256: 'a'.repeat(64), crc32: 1, rawLength: 512, sizeBytes: 9 };

/** A store of these objects, in pieces. It counts the bytes that readers hold: bytes that were sent for reads that have not ended. */
function storeOf(objects: ReadonlyMap<string, Uint8Array>, pieceBytes = 64 * 1024) {
  const state = { held: 0, most: 0 };
  const hold = (bytes: number) => {
    state.held += bytes;
    state.most = Math.max(state.most, state.held);
  };
  const store: Pick<ObjectStore, 'get' | 'getStream'> = {
    get: async (key) => {
      const stored = objects.get(key);
      hold(stored?.length ?? 0);
      await new Promise(setImmediate);
      return stored;
    },
    getStream: async (key) => {
      const stored = objects.get(key);
      if (stored === undefined) return undefined;
      const pieces = async function* () {
        for (let at = 0; at < stored.length; at += pieceBytes) {
          const piece = stored.subarray(at, at + pieceBytes);
          hold(piece.length);
          yield piece;
        }
      };
      return Readable.from(pieces(), { highWaterMark: 1 });
    },
  };
  return { store: store as ObjectStore, state };
}

test('sidecars with long lists are in memory one after the other, however many are asked for', async () => {
  const files = Array.from({ length: 60_000 }, (_, at) => ({ path: `${at}`, size: 1, sha256: 'b'.repeat(64) }));
  const json = await sidecarBytes(sidecarOf({ ...summary, files }), []);
  expect(json.length).toBeGreaterThan(4 * megabyte);
  const keys = Array.from({ length: 16 }, (_, at) => `key-${at}`);
  const { store, state } = storeOf(new Map(keys.map((key) => [sidecarKey('acme', key), withSum(key, json)])));
  const digests = await inParallel(keys, 16, async (key) => {
    const digest = await readSegmentDigest(store, 'acme', key);
    state.held -= json.length;
    return digest;
  });
  expect(digests).toEqual(keys.map(() => expect.objectContaining(summary)));
  // Each of the others holds its first megabyte and one further piece.
  expect(state.most).toBeLessThan(16 * 1.2 * megabyte + json.length);
});

const page = (text: string) => ({
  ...{ path: 'index', title: 'Start', fullTextBytes: text.length, searchBytes: 2, searchCharacters: 2 },
  ...{ links: [], anchors: [], classes: [], diagnostics: [], feedItems: [], fullText: text, search: '[]' },
});

test.each([1, 7, 64 * 1024])(
  'a sidecar in pieces of %i bytes is read to its end, and its texts count for its sum',
  async (bytes) => {
    const { sidecar } = await packPages('docs', [{ path: 'index.html', body: '<p>' }], [page('Words. '.repeat(40))]);
    const stored = withSum('one', sidecar);
    const read = (object: Uint8Array, key = 'one') =>
      readSidecar(storeOf(new Map([[sidecarKey('acme', key), object]]), bytes).store, 'acme', key);
    expect(await read(stored)).toMatchObject({ pages: [{ path: 'index' }], texts: { search: {} } });
    expect(await read(sidecar)).toMatchObject({ pages: [{ path: 'index' }] });
    expect(await read(stored, 'two')).toBeUndefined();
    for (const at of [10, 30, stored.length - 1]) {
      const changed = Buffer.from(stored);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(await read(changed)).toBeUndefined();
    }
    expect(await read(stored.subarray(0, -1))).toBeUndefined();
    expect(await readSidecar(storeOf(new Map()).store, 'acme', 'one')).toBeUndefined();
  },
);
