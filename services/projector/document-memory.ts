import type { StoredDocument } from '#shared/read-model/document-store.ts';

/**
 * Documents as they were read or written last, for who alone writes them. Who turns out not to be alone is refused at the next write, by
 * its expected revision, and then forgets all of them.
 */
export type DocumentMemory = {
  get<T>(store: string, key: string): StoredDocument<T> | undefined;
  set<T>(store: string, stored: StoredDocument<T>): void;
  clear(): void;
};

/** Remembers the documents that were used last, `most` at most. The caller knows which type each store has. */
export function documentMemory(most: number): DocumentMemory {
  const documents = new Map<string, StoredDocument<unknown>>();
  const set = (name: string, stored: StoredDocument<unknown>) => {
    documents.delete(name);
    documents.set(name, stored);
    const [oldest] = documents.keys();
    if (documents.size > most && oldest !== undefined) documents.delete(oldest);
  };
  return {
    get<T>(store: string, key: string) {
      const name = `${store} ${key}`;
      const stored = documents.get(name);
      if (stored !== undefined) set(name, stored);
      return stored as StoredDocument<T> | undefined;
    },
    set: (store, stored) => set(`${store} ${stored.key}`, stored),
    clear: () => documents.clear(),
  };
}
