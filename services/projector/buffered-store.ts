import { LRUCache } from 'lru-cache';
import {
  type DocumentStore,
  type ReadModelName,
  type ReadModels,
  readModelTable,
  type StoredDocument,
} from '#shared/messaging/read-models.ts';
import { isUnreadable } from '#shared/messaging/parse-message.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { lastPartFirst } from './day-list.ts';
import { WrittenMeanwhile } from './projection.ts';

export type BufferedStore<T> = Pick<DocumentStore<T>, 'get' | 'put'> & {
  /** Writes the changed documents, each once however often it was changed. Throws `WrittenMeanwhile`. */
  flush(): Promise<void>;
};

const writesAtOnce = 32;

type BufferOptions = {
  /** The rounds of writing: all keys of one round are written together, then those of the next. */
  rounds?: (keys: readonly string[]) => string[][];
  /** If true, an unreadable document counts as absent and is overwritten: its content is in the log of one aggregate. */
  madeAnew?: boolean;
  /** Keeps documents for the next batch, under the name of the store. */
  remembered?: { memory: DocumentMemory; as: string };
};

/**
 * A store for one batch of commits: each document is read once, changed in memory, and written at the end. Reading and writing it for each commit
 * would cost two round trips and a disk flush every time; a rebuild would take a hundred times as long.
 */
export function bufferedStore<T>(store: DocumentStore<T>, options: BufferOptions = {}): BufferedStore<T> {
  const { rounds = (keys) => [[...keys]], madeAnew = false, remembered } = options;
  type Entry = { document: StoredDocument<T> | undefined; storedRevision: number };
  const entries = new Map<string, Promise<Entry>>();
  const changed = new Set<string>();
  let writeCount = 0;

  const entryOf = (key: string): Promise<Entry> => {
    const known = entries.get(key);
    if (known !== undefined) return known;
    const reading = read(key).then(
      (document): Entry => ({ document, storedRevision: document?.revision ?? 0 }),
      (error: unknown): Entry => {
        if (madeAnew && isUnreadable(error)) {
          return { document: undefined, storedRevision: error.revision };
        }
        throw error;
      },
    );
    entries.set(key, reading);
    // A failed read is repeated by the next caller.
    reading.catch(() => entries.delete(key));
    return reading;
  };

  return {
    get: async (key) => (await entryOf(key)).document,
    async put(key, document, { expectedRevision } = {}) {
      const entry = await entryOf(key);
      if (expectedRevision !== undefined && expectedRevision !== (entry.document?.revision ?? 0)) return undefined;
      writeCount += 1;
      // The revision is negative, so that it never equals one of the store.
      entry.document = { key, document, revision: -writeCount };
      changed.add(key);
      return entry.document.revision;
    },
    async flush() {
      for (const round of rounds([...changed])) await inParallel(round, writesAtOnce, write);
    },
  };

  async function read(key: string): Promise<StoredDocument<T> | undefined> {
    const known = remembered?.memory.get<T>(remembered.as, key);
    if (known !== undefined) return known;
    const stored = await store.get(key, { fromLeader: true });
    if (stored !== undefined) remembered?.memory.set(remembered.as, stored);
    return stored;
  }

  async function write(key: string): Promise<void> {
    const entry = await entries.get(key);
    if (entry?.document === undefined) return;
    const { document } = entry.document;
    const revision = await store.put(key, document, { expectedRevision: entry.storedRevision });
    if (revision === undefined) throw new WrittenMeanwhile(key);
    remembered?.memory.set(remembered.as, { key, document, revision });
  }
}

type Buffered = { [Name in ReadModelName]: BufferedStore<DocumentOf<Name>> };
type DocumentOf<Name extends ReadModelName> = ReadModels[Name] extends DocumentStore<infer T> ? T : never;

/**
 * All read models of a generation, buffered; `flush` writes the named stores in that order. A document that many aggregates share changes with the
 * commits of each, so the newest ones are cached from batch to batch.
 */
export function bufferedReadModels(models: ReadModels, memory: DocumentMemory) {
  const buffer = (name: ReadModelName) => {
    const { isShared, isInParts } = readModelTable[name];
    return bufferedStore(models[name] as DocumentStore<never>, {
      ...(isInParts ? { rounds: lastPartFirst } : {}),
      madeAnew: !isShared,
      ...(isShared ? { remembered: { memory, as: name } } : {}),
    });
  };
  const names = Object.keys(readModelTable) as ReadModelName[];
  const buffered = Object.fromEntries(names.map((name) => [name, buffer(name)])) as unknown as Buffered;
  return {
    models: buffered,
    async flush(order: readonly ReadModelName[]) {
      try {
        for (const name of order) await buffered[name].flush();
      } catch (error) {
        memory.clear();
        throw error;
      }
    },
  };
}

/**
 * A cache of documents as they were last read or written, for a process that alone writes them. If another process writes too, the next write is
 * refused by the expected revision, and the cache is cleared.
 */
export type DocumentMemory = {
  get<T>(store: string, key: string): StoredDocument<T> | undefined;
  set<T>(store: string, stored: StoredDocument<T>): void;
  clear(): void;
};

/** Caches recently used documents, up to a number of list entries; any other document counts as one. The caller knows the type of each store. */
export function documentMemory(mostEntries: number): DocumentMemory {
  const documents = new LRUCache<string, StoredDocument<unknown>>({
    maxSize: mostEntries,
    sizeCalculation: ({ document }) => Math.max(1, (document as { entries?: unknown[] }).entries?.length ?? 1),
  });
  return {
    get: <T>(store: string, key: string) => documents.get(`${store} ${key}`) as StoredDocument<T> | undefined,
    set: (store, stored) => void documents.set(`${store} ${stored.key}`, stored),
    clear: () => documents.clear(),
  };
}
