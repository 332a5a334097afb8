import type { DocumentChange, DocumentStore, StoredDocument } from '#shared/messaging/read-models.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { subjectMatches } from '#shared/messaging/subjects/subject-names.ts';

/** Largest message that a server accepts. */
const mostLength = 1_048_576;

export type MemoryDocuments<T> = DocumentStore<T> & { onPut(listener: (key: string, document: T) => void): void };

/** A bucket in one process. */
export function memoryDocuments<T>(gate: () => Promise<void>): MemoryDocuments<T> {
  const documents = new Map<string, StoredDocument<T>>();
  const listeners = new Set<(change: DocumentChange<T>) => void>();
  let revision = 0;

  const emit = (change: DocumentChange<T>) => {
    for (const listener of listeners) listener(change);
  };

  async function* watch(filter: string, signal: AbortSignal): AsyncIterable<DocumentChange<T>> {
    const queue: DocumentChange<T>[] = [];
    for (const stored of documents.values()) queue.push({ kind: 'put', initial: true, ...structuredClone(stored) });
    queue.push({ kind: 'caught-up' });
    let wake = () => {};
    const listener = (change: DocumentChange<T>) => {
      queue.push(change);
      wake();
    };
    const stop = () => wake();
    listeners.add(listener);
    signal.addEventListener('abort', stop);
    try {
      while (!signal.aborted) {
        const change = queue.shift();
        if (change === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else if (change.kind === 'caught-up' || subjectMatches(filter, change.key)) yield change;
      }
    } finally {
      listeners.delete(listener);
      signal.removeEventListener('abort', stop);
    }
  }

  return {
    get: async (key) => {
      await gate();
      return structuredClone(documents.get(key));
    },
    getText: async (key) => {
      await gate();
      const stored = documents.get(key);
      if (stored === undefined) return undefined;
      const text = Buffer.from(JSON.stringify(stored.document));
      return { key, revision: stored.revision, text, parse: (shorter = text) => JSON.parse(shorter.toString()) as T };
    },
    put: async (key, document, options) => {
      await gate();
      const expected = options?.expectedRevision;
      if (expected !== undefined && (documents.get(key)?.revision ?? 0) !== expected) return undefined;
      const text = JSON.stringify(document);
      if (text.length > mostLength) throw new Poison(`The document "${key}" is too large to be stored.`);
      revision += 1;
      const copy = JSON.parse(text) as T;
      documents.set(key, { key, document: copy, revision });
      emit({ kind: 'put', key, document: structuredClone(copy), revision, initial: false });
      return revision;
    },
    remove: async (key, { expectedRevision } = {}) => {
      await gate();
      if (expectedRevision !== undefined && documents.get(key)?.revision !== expectedRevision) return false;
      revision += 1;
      if (documents.delete(key)) emit({ kind: 'removed', key, revision, initial: false });
      return true;
    },
    getMany: async (keys) => {
      await gate();
      return keys.flatMap((key) => structuredClone(documents.get(key)) ?? []);
    },
    async *pages() {
      await gate();
      for (const stored of [...documents.values()]) yield [structuredClone(stored)];
    },
    keys: async (filter = '>') => {
      await gate();
      return [...documents.keys()].filter((key) => subjectMatches(filter, key));
    },
    watch,
    onPut: (listener) =>
      void listeners.add((change) => {
        if (change.kind === 'put') listener(change.key, change.document);
      }),
  };
}
