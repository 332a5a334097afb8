/**
 * Documents of one read model (one bucket). Keys are subject-like tokens: `[A-Za-z0-9_=/.-]+`.
 *
 * What an adapter owes:
 * - Every change of one key has a growing `revision`; `put` with `expectedRevision` stores only if the key is at that revision
 *   (0: absent) and answers undefined otherwise.
 * - `watch` first gives what is there (`initial: true`), then one `caught-up`, then changes as they come, and goes on after reconnects
 *   without a gap.
 */
export type DocumentStore<T> = {
  get(key: string, options?: { fromLeader?: boolean }): Promise<StoredDocument<T> | undefined>;
  put(key: string, document: T, options?: { expectedRevision?: number }): Promise<number | undefined>;
  remove(key: string): Promise<void>;
  /** Keys that match a subject filter such as `acme.>`; all by default. */
  keys(filter?: string): Promise<string[]>;
  watch(filter: string, signal: AbortSignal): AsyncIterable<DocumentChange<T>>;
};

export type StoredDocument<T> = { key: string; document: T; revision: number };

export type DocumentChange<T> =
  | { kind: 'put'; key: string; document: T; revision: number; initial: boolean }
  | { kind: 'removed'; key: string; revision: number; initial: boolean }
  | { kind: 'caught-up' };
