import { LRUCache } from 'lru-cache';
import type { DocumentStore, ReadModels, StoredDocument } from '#shared/messaging/read-models.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { lastPartFirst } from './audit-parts.ts';
import { Conflict } from '#shared/runtime/failures.ts';

/** Somebody else wrote a document between its reading and its writing. What was folded meanwhile has to be folded again. */
export class WrittenMeanwhile extends Conflict {
  override name = 'WrittenMeanwhile';
}

export type BufferedStore<T> = Pick<DocumentStore<T>, 'get' | 'put'> & {
  /** Writes what was changed, each document once however often it was. Throws `WrittenMeanwhile`. */
  flush(): Promise<void>;
};

const writesAtOnce = 32;

type BufferOptions = {
  /** What has to be written before what: the keys of one round together, after those of the round before. */
  rounds?: (keys: readonly string[]) => string[][];
  /** Documents that need not be read again, under the name of the store. */
  remembered?: { memory: DocumentMemory; as: string };
};

/**
 * A store for one batch of commits: documents are read once, changed here, and written at the end. Reading and writing each one for each
 * commit would cost two round trips and a disk flush a time; a history read from the start would take a hundred times as long.
 */
export function bufferedStore<T>(store: DocumentStore<T>, options: BufferOptions = {}): BufferedStore<T> {
  const { rounds = (keys) => [[...keys]], remembered } = options;
  type Entry = { document: StoredDocument<T> | undefined; storedRevision: number };
  const entries = new Map<string, Promise<Entry>>();
  const changed = new Set<string>();
  let writeCount = 0;

  const entryOf = (key: string): Promise<Entry> => {
    const known = entries.get(key);
    if (known !== undefined) return known;
    const reading = read(key).then((document) => ({ document, storedRevision: document?.revision ?? 0 }));
    entries.set(key, reading);
    // What could not be read is read again by whoever asks next.
    reading.catch(() => entries.delete(key));
    return reading;
  };

  return {
    get: async (key) => (await entryOf(key)).document,
    async put(key, document, { expectedRevision } = {}) {
      const entry = await entryOf(key);
      if (expectedRevision !== undefined && expectedRevision !== (entry.document?.revision ?? 0)) return undefined;
      writeCount += 1;
      // Below zero, so that it is never taken for a revision of the store.
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
    if (revision === undefined) {
      throw new WrittenMeanwhile(`The document "${key}" was written by another process.`);
    }
    remembered?.memory.set(remembered.as, { key, document, revision });
  }
}

/**
 * All read models of a generation, buffered; `flush` writes the named stores in that order. Of those whose documents hold a whole day or
 * month, which each commit of it adds to, the newest need not be read again for each batch.
 */
export function bufferedReadModels(models: ReadModels, memory: DocumentMemory) {
  const audit = (as: AuditStore) => bufferedStore(models[as], { rounds: lastPartFirst, remembered: { memory, as } });
  const usage = (as: UsageStore) => bufferedStore(models[as], { remembered: { memory, as } });
  const buffered = {
    jobStatus: bufferedStore(models.jobStatus),
    jobList: bufferedStore(models.jobList),
    directoryOrganizations: bufferedStore(models.directoryOrganizations),
    directoryKeys: bufferedStore(models.directoryKeys),
    directoryContents: bufferedStore(models.directoryContents),
    auditExports: audit('auditExports'),
    auditContent: audit('auditContent'),
    auditDirectory: audit('auditDirectory'),
    auditAccess: audit('auditAccess'),
    usageExports: usage('usageExports'),
    usageContent: usage('usageContent'),
    usageAccess: usage('usageAccess'),
  };
  return {
    models: buffered,
    async flush(names: readonly (keyof ReadModels)[]) {
      try {
        for (const name of names) await buffered[name].flush();
      } catch (error) {
        memory.clear();
        throw error;
      }
    },
  };
}

type AuditStore = Extract<keyof ReadModels, `audit${string}`>;
type UsageStore = Extract<keyof ReadModels, `usage${string}`>;

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
  const documents = new LRUCache<string, StoredDocument<unknown>>({ max: most });
  return {
    get: <T>(store: string, key: string) => documents.get(`${store} ${key}`) as StoredDocument<T> | undefined,
    set: (store, stored) => void documents.set(`${store} ${stored.key}`, stored),
    clear: () => documents.clear(),
  };
}
