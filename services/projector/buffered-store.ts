import { inParallel } from '#shared/export-objects/in-parallel.ts';
import type { DocumentStore, StoredDocument } from '#shared/read-model/document-store.ts';
import type { ReadModels } from '#shared/read-model/read-models.ts';
import { lastPartFirst } from './audit-parts.ts';

/** Somebody else wrote a document between its reading and its writing. What was folded meanwhile has to be folded again. */
export class WrittenMeanwhile extends Error {
  override name = 'WrittenMeanwhile';
}

export type BufferedStore<T> = Pick<DocumentStore<T>, 'get' | 'put'> & {
  /** Writes what was changed, each document once however often it was. Throws `WrittenMeanwhile`. */
  flush(): Promise<void>;
};

const writesAtOnce = 32;

/**
 * A store for one batch of commits: documents are read once, changed here, and written at the end. Reading and writing each one for each
 * commit would cost two round trips and a disk flush a time; a history read from the start would take a hundred times as long.
 * `rounds` says what has to be written before what: the keys of one round together, after those of the round before.
 */
export function bufferedStore<T>(
  store: DocumentStore<T>,
  rounds: (keys: readonly string[]) => string[][] = (keys) => [[...keys]],
): BufferedStore<T> {
  type Entry = { document: StoredDocument<T> | undefined; storedRevision: number };
  const entries = new Map<string, Promise<Entry>>();
  const changed = new Set<string>();
  let writeCount = 0;

  const entryOf = (key: string): Promise<Entry> => {
    const known = entries.get(key);
    if (known !== undefined) return known;
    const reading = store
      .get(key, { fromLeader: true })
      .then((document) => ({ document, storedRevision: document?.revision ?? 0 }));
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

  async function write(key: string): Promise<void> {
    const entry = await entries.get(key);
    if (entry?.document === undefined) return;
    const expectedRevision = entry.storedRevision;
    if ((await store.put(key, entry.document.document, { expectedRevision })) === undefined) {
      throw new WrittenMeanwhile(`The document "${key}" was written by another process.`);
    }
  }
}

/** All read models of a generation, buffered; `flush` writes the named stores in that order. */
export function bufferedReadModels(models: ReadModels) {
  const buffered = {
    jobStatus: bufferedStore(models.jobStatus),
    jobList: bufferedStore(models.jobList),
    directoryOrganizations: bufferedStore(models.directoryOrganizations),
    directoryKeys: bufferedStore(models.directoryKeys),
    directoryContents: bufferedStore(models.directoryContents),
    auditExports: bufferedStore(models.auditExports, lastPartFirst),
    auditContent: bufferedStore(models.auditContent, lastPartFirst),
    auditDirectory: bufferedStore(models.auditDirectory, lastPartFirst),
    auditAccess: bufferedStore(models.auditAccess, lastPartFirst),
    usageExports: bufferedStore(models.usageExports),
    usageContent: bufferedStore(models.usageContent),
    usageAccess: bufferedStore(models.usageAccess),
  };
  return {
    models: buffered,
    async flush(names: readonly (keyof ReadModels)[]) {
      for (const name of names) await buffered[name].flush();
    },
  };
}
