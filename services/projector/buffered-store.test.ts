import { expect, test } from 'vitest';
import { memoryDocuments } from '../../test/support/memory-documents.ts';
import { bufferedStore, documentMemory } from './buffered-store.ts';
import { WrittenMeanwhile } from './projection.ts';

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

test('a document that another process wrote meanwhile is not overwritten', async () => {
  const store = open();
  await store.put('a', { n: 1 });
  const buffer = bufferedStore(store);
  const before = await buffer.get('a');
  await buffer.put('a', { n: 2 }, { expectedRevision: before?.revision ?? 0 });
  await store.put('a', { n: 9 });
  await expect(buffer.flush()).rejects.toThrow(WrittenMeanwhile);
  expect((await store.get('a'))?.document).toEqual({ n: 9 });
});

test('the documents that were used last are kept', () => {
  const memory = documentMemory(2);
  for (const key of ['a', 'b']) memory.set('s', { key, document: key, revision: 1 });
  memory.get('s', 'a');
  memory.set('s', { key: 'c', document: 'c', revision: 1 });
  expect(['a', 'b', 'c'].map((key) => memory.get('s', key)?.document)).toEqual(['a', undefined, 'c']);
  expect(memory.get('t', 'a')).toBeUndefined();
});

test('the next batch need not read documents of the last', async () => {
  const store = memoryDocuments<{ n: number }>(async () => {});
  const remembered = { memory: documentMemory(9), as: 's' };
  let readCount = 0;
  const counted = {
    ...store,
    get: async (key: string) => {
      readCount += 1;
      return await store.get(key);
    },
  };
  for (let n = 1; n <= 3; n += 1) {
    const buffer = bufferedStore(counted, { remembered });
    const before = await buffer.get('a');
    expect(before?.document.n ?? 0).toBe(n - 1);
    await buffer.put('a', { n }, { expectedRevision: before?.revision ?? 0 });
    await buffer.flush();
  }
  expect((await store.get('a'))?.document).toEqual({ n: 3 });
  expect(readCount).toBe(1);
});

test('a process that remembers what another has changed is refused', async () => {
  const store = memoryDocuments<{ n: number }>(async () => {});
  await store.put('a', { n: 1 });
  const memory = documentMemory(9);
  const remembered = { memory, as: 's' };
  await bufferedStore(store, { remembered }).get('a');
  await store.put('a', { n: 2 });
  const late = bufferedStore(store, { remembered });
  await late.put('a', { n: 9 }, { expectedRevision: (await late.get('a'))?.revision ?? 0 });
  await expect(late.flush()).rejects.toThrow(WrittenMeanwhile);
  memory.clear();
  expect((await bufferedStore(store, { remembered }).get('a'))?.document).toEqual({ n: 2 });
});
