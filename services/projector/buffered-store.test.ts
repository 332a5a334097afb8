import { expect, test } from 'vitest';
import { memoryDocuments } from '../../test/support/memory-documents.ts';
import { bufferedStore, WrittenMeanwhile } from './buffered-store.ts';

const open = () => memoryDocuments<{ n: number }>(async () => {});

test('a document that is changed often is written once, with its last form', async () => {
  const store = open();
  let writes = 0;
  store.onPut(() => (writes += 1));
  const buffer = bufferedStore(store);
  for (let n = 1; n <= 5; n += 1) {
    const before = await buffer.get('a');
    expect(before?.document.n ?? 0).toBe(n - 1);
    expect(await buffer.put('a', { n }, { expectedRevision: before?.revision ?? 0 })).toBeDefined();
  }
  expect(await store.get('a')).toBeUndefined();
  await buffer.flush();
  expect(writes).toBe(1);
  expect((await store.get('a'))?.document).toEqual({ n: 5 });
});

test('guards hold within the buffer', async () => {
  const buffer = bufferedStore(open());
  expect(await buffer.put('a', { n: 1 }, { expectedRevision: 7 })).toBeUndefined();
  await buffer.put('a', { n: 1 }, { expectedRevision: 0 });
  expect(await buffer.put('a', { n: 2 }, { expectedRevision: 0 })).toBeUndefined();
});

test('what somebody else wrote meanwhile is not written over', async () => {
  const store = open();
  await store.put('a', { n: 1 });
  const buffer = bufferedStore(store);
  const before = await buffer.get('a');
  await buffer.put('a', { n: 2 }, { expectedRevision: before?.revision ?? 0 });
  await store.put('a', { n: 9 });
  await expect(buffer.flush()).rejects.toThrow(WrittenMeanwhile);
  expect((await store.get('a'))?.document).toEqual({ n: 9 });
});
