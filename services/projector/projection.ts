import type { Commit } from '#shared/contracts/commit.ts';
import type { Bus } from '#shared/bus/bus.ts';
import type { ProjectionName } from '#shared/contracts/projection-pointer.ts';
import type { DurableReader } from '#shared/event-log/durable-reader.ts';
import type { DocumentStore, StoredDocument } from '#shared/read-model/document-store.ts';
import type { Generation } from '#shared/read-model/generation.ts';
import type { ReadModels } from '#shared/read-model/read-models.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import type { Fold } from './fold.ts';

/** What a projection needs of a store. */
export type Store<T> = Pick<DocumentStore<T>, 'get' | 'put'>;

export type Stores = { [Name in keyof ReadModels]: Pick<ReadModels[Name], 'get' | 'put'> };

/** The logs that a fold may go back to. */
export type Logs = Pick<Bus, 'exports' | 'content' | 'directory'>;

/** The part of the object store that a rebuild reads. */
export type Archive = Pick<ObjectStore, 'list' | 'get'>;

/** One projection, whichever generation it fills: where its messages come from, and how to fold them into given stores. */
export type ProjectionSource<M> = {
  name: ProjectionName;
  openReader(bus: Pick<Bus, 'readers'>, generation: Generation): Promise<DurableReader<M>>;
  into(stores: Stores, logs: Logs): Fold<M>;
  /** What its log had and has not any more, in batches. */
  archived?(archive: Archive): AsyncIterable<M[]>;
  /** Removes what must not be kept any longer, from either generation alike; what is left follows from the log and the day alone. */
  expire?(models: ReadModels, now: Date): Promise<void>;
};

/**
 * Makes documents out of one kind of aggregate. The primary document of an aggregate says which revision has been folded; it is
 * written last, so whoever sees it sees the others, too.
 */
export type Projection<C extends Commit, D extends { revision: number }> = {
  primary: Store<D>;
  keyOf(commit: C): string;
  /** Everything but the primary document; repeating it, also with an older commit than was written, changes nothing. */
  writeSecondary(commit: C): Promise<void>;
  toDocument(commit: C): D;
  /** What is written once for a batch of commits instead of with each. */
  finish?(): Promise<void>;
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
