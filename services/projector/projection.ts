import type { Commit } from '#shared/contracts/commit.ts';
import type { Generation, ProjectionName } from '#shared/contracts/read-models.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import type { DurableReader } from '#shared/messaging/durable-reader.ts';
import type { EventLog } from '#shared/messaging/event-log.ts';
import type { DocumentStore, ReadModels, StoredDocument } from '#shared/messaging/read-models.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

/** What a projection needs of a store. */
export type Store<T> = Pick<DocumentStore<T>, 'get' | 'put'>;

export type Stores = { [Name in keyof ReadModels]: Pick<ReadModels[Name], 'get' | 'put'> };

/** The logs that a fold may go back to. */
export type Logs = Pick<BusParts, 'exports' | 'content' | 'directory'>;

/** The part of the object store that a rebuild reads. */
export type Archive = Pick<ObjectStore, 'list' | 'get'>;

/** One projection, whichever generation it fills: where its messages come from, and how to fold them into given stores. */
export type ProjectionSource<M> = {
  name: ProjectionName;
  openReader(bus: Pick<BusParts, 'projectionReaders'>, generation: Generation): Promise<DurableReader<M>>;
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

/** How one batch of messages of a log is folded into stores that are written at its end. */
export type Fold<M> = {
  /** Reads together what `one` will need; whatever fails here shows there. */
  prepare(messages: readonly M[]): Promise<void>;
  /** Folds one message. Repeating it, also after later ones, changes nothing. */
  one(message: M): Promise<void>;
  /** What is done once for all messages of the batch; everything has been put when it answers. */
  finish(): Promise<void>;
};

const readsAtOnce = 32;

/** Commits, each aggregate's in the order of its revisions. */
export function commitFold<C extends Commit, D extends { revision: number }>(
  projection: Projection<C, D>,
  log: Pick<EventLog<C>, 'history'>,
): Fold<C> {
  return {
    async prepare(commits) {
      const keys = new Set(commits.map((commit) => projection.keyOf(commit)));
      await inParallel([...keys], readsAtOnce, (key) => projection.primary.get(key).catch(() => undefined));
    },
    one: (commit) => foldInOrder(projection, log, commit),
    finish: async () => projection.finish?.(),
  };
}

/**
 * Brings an aggregate's documents up to `commit`. Older commits than the documents reflect are skipped; when commits in between have not
 * been seen, they are read from the log. Throws `HistoryBroken` when the log does not have them, and never folds over a hole.
 */
export async function foldInOrder<C extends Commit, D extends { revision: number }>(
  projection: Projection<C, D>,
  log: Pick<EventLog<C>, 'history'>,
  commit: C,
): Promise<void> {
  for (;;) {
    const stored = await projection.primary.get(projection.keyOf(commit), { fromLeader: true });
    const reflected = stored?.document.revision ?? 0;
    if (commit.revision <= reflected) return;
    const next = commit.revision === reflected + 1 ? commit : await commitAfter(log, commit, reflected);
    const written = await writeCommit(projection, next, stored);
    if (written && next.revision === commit.revision) return;
  }
}

/** The commit with revision `reflected + 1`, once the history up to `commit` has shown itself to be whole. */
async function commitAfter<C extends Commit>(
  log: Pick<EventLog<C>, 'history'>,
  commit: C,
  reflected: number,
): Promise<C> {
  let found: C | undefined;
  let previous: C | undefined;
  for await (const { commit: read } of log.history(commit.subject)) {
    if (read.revision !== (previous?.revision ?? 0) + 1 || read.previousHash !== (previous?.hash ?? '')) {
      throw new HistoryBroken(commit.subject, previous?.revision ?? 0, read.revision);
    }
    if (read.revision === reflected + 1) found = read;
    previous = read;
    if (read.revision === commit.revision) break;
  }
  if (found === undefined || previous?.hash !== commit.hash) {
    throw new HistoryBroken(commit.subject, previous?.revision ?? 0, commit.revision);
  }
  return found;
}

/** Commits of an aggregate are missing, swapped or changed: its documents stay as they are until someone looks. */
export class HistoryBroken extends Poison {
  override name = 'HistoryBroken';

  constructor(subject: string, lastGoodRevision: number, revision: number) {
    super(`The history of ${subject} is broken: revision ${revision} does not follow revision ${lastGoodRevision}.`);
  }
}
