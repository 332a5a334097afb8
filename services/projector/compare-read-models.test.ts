import { expect, test } from 'vitest';
import type { ReadDocument } from '#shared/messaging/read-models.ts';
import { memoryDocuments } from '../../test/support/memory-documents.ts';
import { compareStores } from './compare-read-models.ts';

const never = new AbortController().signal;

async function storeOf(documents: Record<string, number>) {
  const store = memoryDocuments<{ n: number }>(async () => {});
  for (const [key, n] of Object.entries(documents)) await store.put(key, { n });
  return store;
}

test('differing and missing documents are found, and all are counted', async () => {
  const one = await storeOf({ a: 1, b: 2, c: 3, d: 4 });
  const other = await storeOf({ d: 4, c: 9, b: 2, e: 5 });
  expect(await compareStores(one, other, never)).toEqual({ documentCount: 5, suspects: new Set(['a', 'c', 'e']) });
});

test('the next page is read when the one before was compared: no more than a page is in memory', async () => {
  let pagesAhead = 0;
  const pageCount = 500;
  const page = (n: number): ReadDocument<number>[] => [{ key: `k${n}`, revision: n + 1, document: n }];
  const store = {
    async *pages() {
      for (let n = 0; n < pageCount; n += 1) {
        pagesAhead += 1;
        expect(pagesAhead).toBe(1);
        yield page(n);
      }
    },
    getMany: async (keys: readonly string[]) => {
      pagesAhead -= 1;
      return keys.flatMap((key) => page(Number(key.slice(1))));
    },
  };
  expect(await compareStores(store, store, never)).toEqual({ documentCount: pageCount, suspects: new Set() });
});
