import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { newFolder } from './new-folder.ts';
import { testObjectStore } from './test-object-store.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

export type AgingStore = {
  store: ObjectStore;
  /** Makes the objects under a prefix look as if they had been stored that many days ago. */
  age(prefix: string, days: number): Promise<void>;
  /** All keys under a prefix, sorted. */
  keys(prefix?: string): Promise<string[]>;
};

/** A folder as object store, whose objects can be made older. */
export function agingStore(folder = newFolder()): AgingStore {
  const store = testObjectStore(folder);
  const keys = async (prefix = '') => {
    const found: string[] = [];
    for await (const { key } of store.list(prefix)) found.push(key);
    return found.toSorted();
  };
  return {
    store,
    keys,
    async age(prefix, days) {
      const time = new Date(Date.now() - days * 86_400_000);
      for (const key of await keys(prefix)) await utimes(join(folder, 'stored', `${key}#`), time, time);
    },
  };
}
