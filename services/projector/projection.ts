import type { Commit } from '#shared/contracts/commit.ts';
import type { DocumentStore, StoredDocument } from '#shared/read-model/document-store.ts';

/**
 * Makes documents out of one kind of aggregate. The primary document of an aggregate says which revision has been folded; it is
 * written last, so whoever sees it sees the others, too. The stores are given, so that a rebuild can fill other buckets.
 */
export type Projection<C extends Commit, D extends { revision: number }> = {
  name: string;
  /** Where its commits come from. */
  stream: 'EXPORTS' | 'CONTENT' | 'DIRECTORY';
  primary: DocumentStore<D>;
  keyOf(commit: C): string;
  /** Everything but the primary document; repeating it, also with an older commit than was written, changes nothing. */
  writeSecondary(commit: C): Promise<void>;
  toDocument(commit: C): D;
};

/** Folds one commit; false when another writer was faster and the primary document has to be read again. */
export async function writeCommit<C extends Commit, D extends { revision: number }>(
  projection: Projection<C, D>,
  commit: C,
  stored: StoredDocument<D> | undefined,
): Promise<boolean> {
  await projection.writeSecondary(commit);
  const revision = await projection.primary.put(projection.keyOf(commit), projection.toDocument(commit), {
    expectedRevision: stored?.revision ?? 0,
  });
  return revision !== undefined;
}
