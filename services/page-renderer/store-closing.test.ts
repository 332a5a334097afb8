import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeEach, expect, test } from 'vitest';
import { planKey, segmentKey, sidecarKey } from '#shared/contracts/stored-objects.ts';
import type { SegmentPiece } from '#shared/export/bundle/segment-writer.ts';
import type { ObjectPart, ObjectStore } from '#shared/storage/object-store.ts';
import { exportPlan } from '../../test/support/make-commit.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import { lastClosing, storeClosing } from './store-closing.ts';

const signal = new AbortController().signal;
const after = 'a'.repeat(64);
const plan = exportPlan({ chunks: [{ kind: 'site', key: 'd'.repeat(64) }], closingKey: 'c'.repeat(64) });
const { organization, closingKey } = plan;

const piecesOf = (texts: readonly string[]): SegmentPiece[] => texts.map((text) => [text.length, hash('sha256', text)]);
const texts = ['manifest', 'the texts of a chunk', 'the texts of another one', 'end'];

let objectStore: ObjectStore;

beforeEach(async () => {
  objectStore = { ...testObjectStore(), copiesParts: true };
  const bytes = texts.join('');
  const pieces = piecesOf(texts);
  const sidecar = {
    ...{ version: 1, sha256: hash('sha256', bytes), crc32: 0, rawLength: 0, sizeBytes: bytes.length },
    ...{ files: [], pages: [], diagnostics: [], pieces },
  };
  await objectStore.put(planKey(organization, after), Buffer.from(JSON.stringify(plan)));
  await objectStore.put(segmentKey(organization, closingKey), Buffer.from(bytes));
  await objectStore.put(sidecarKey(organization, closingKey), Buffer.from(JSON.stringify(sidecar)));
});

const last = () => lastClosing(objectStore, organization, after, signal);

test('pieces of the last closing segment are the same where they are in it, whatever the sizes of the chunks of the stream', async () => {
  const changed = ['manifest!', 'new', 'the texts of a chunk', 'the texts of another one', 'end'];
  let stored: ObjectPart[] = [];
  const store: ObjectStore = {
    ...objectStore,
    putParts: async (key, parts, options) => {
      stored = [];
      for await (const part of parts) stored.push(part);
      await objectStore.putParts(key, stored, options);
    },
  };
  const bytes = Buffer.from(changed.join(''));
  for (const size of [1, 7, 1_000]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    const segment = Readable.from(chunks, { objectMode: false });
    await storeClosing(store, 'new', segment, piecesOf(changed), await last(), signal);
    expect(stored.map(({ same }) => same)).toEqual([
      undefined,
      undefined,
      { at: 8, sizeBytes: 20 },
      { at: 28, sizeBytes: 24 },
      { at: 52, sizeBytes: 3 },
    ]);
    expect(Buffer.from((await objectStore.get('new')) ?? '').equals(bytes)).toBe(true);
  }
});

test('nothing is copied from a segment that is gone, was cut or has no pieces, nor by a store that cannot copy', async () => {
  expect((await last())?.pieces).toEqual(piecesOf(texts));
  expect(await lastClosing(objectStore, organization, undefined, signal)).toBeUndefined();
  expect(await lastClosing(objectStore, organization, 'b'.repeat(64), signal)).toBeUndefined();
  expect(await lastClosing({ ...objectStore, copiesParts: false }, organization, after, signal)).toBeUndefined();
  await objectStore.put(segmentKey(organization, closingKey), Buffer.from('manifest'));
  expect(await last()).toBeUndefined();
  await objectStore.remove(segmentKey(organization, closingKey));
  expect(await last()).toBeUndefined();
  await objectStore.remove(sidecarKey(organization, closingKey));
  await objectStore.put(segmentKey(organization, closingKey), Buffer.from(texts.join('')));
  expect(await last()).toBeUndefined();
});
