import type { Commit } from '#shared/contracts/commit.ts';
import type { Generation, ProjectionName } from '#shared/contracts/read-models.ts';
import type { BusOf, BusParts } from '#shared/messaging/bus.ts';
import type { DurableReader } from '#shared/messaging/durable-reader.ts';
import type { EventLog } from '#shared/messaging/event-log.ts';
import type { DocumentStore, ReadModels } from '#shared/messaging/read-models.ts';
import { Conflict, Poison } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

/** What the projector works with. */
export type ProjectorContext = {
  bus: BusOf<'projector'>;
  /** Holds the leases. */
  instance: string;
  clock: Clock;
  logger: Logger;
  /** Where old histories of export jobs are; absent: nowhere. */
  archive?: Archive;
};

/** The part of the object store that a rebuild reads. */
type Archive = Pick<ObjectStore, 'list' | 'get'>;

/** A projection with all that it works with. */
export type ProjectionRun<M> = ProjectorContext & { source: ProjectionSource<M> };

/** One projection, whichever generation it fills: where its messages come from, and how to fold them into given stores. */
export type ProjectionSource<M> = {
  name: ProjectionName;
  openReader(bus: Pick<BusParts, 'projectionReaders'>, generation: Generation): Promise<DurableReader<M>>;
  into(stores: Stores, logs: Logs): BatchHandler<M>;
  /** The histories that were moved from its log to the archive, and the objects there that are none. */
  archived?(
    archive: Archive,
    signal: AbortSignal,
  ): AsyncIterable<{ key: string; commits: M[] } | { key: string; problem: string }>;
  /** Removes what may not be kept any longer, from either generation alike; what is left follows from the log and the day alone. */
  expire?(models: ReadModels, now: Date): Promise<void>;
};

/** What a projection needs of a store. */
export type Store<T> = Pick<DocumentStore<T>, 'get' | 'put'>;

type Stores = { [Name in keyof ReadModels]: Pick<ReadModels[Name], 'get' | 'put'> };

/** The logs that a projection can go back to. */
type Logs = Pick<BusParts, 'exports' | 'content' | 'directory'>;

/** Folds one batch of messages into stores that are written at its end. */
export type BatchHandler<M> = {
  /** Reads what `fold` will need, all at a time. What cannot be read makes `fold` fail, not this. */
  prepare?(messages: readonly M[]): Promise<void>;
  /** Folds one message. Repeating it, also after later ones, changes nothing. */
  fold(message: M): Promise<void>;
  /** What is done once for all messages of the batch; everything has been put when it answers. */
  finish(): Promise<void>;
};

/** Another process wrote a document between its reading and its writing. What was folded meanwhile has to be folded again. */
export class WrittenMeanwhile extends Conflict {
  override name = 'WrittenMeanwhile';

  constructor(key: string) {
    super(`The document "${key}" was written by another process.`);
  }
}

/** Changes a document, again after another writer was faster. `change` answers undefined when the document says it already. */
export async function updateDocument<T>(
  store: Store<T>,
  key: string,
  change: (document: T | undefined) => T | undefined,
): Promise<void> {
  for (;;) {
    const stored = await store.get(key, { fromLeader: true });
    const changed = change(stored?.document);
    if (changed === undefined) return;
    if ((await store.put(key, changed, { expectedRevision: stored?.revision ?? 0 })) !== undefined) return;
  }
}

/**
 * Makes documents out of one kind of aggregate. The primary document of an aggregate says which revision has been folded; it is
 * written last, so a reader who sees it sees the others, too.
 */
export type Projection<C extends Commit> = {
  primary: Store<StateDocument<C>>;
  keyOf(commit: C): string;
  /** Everything but the primary document; repeating it, also with an older commit than was written, changes nothing. */
  writeSecondary(commit: C): Promise<void>;
  /** What is written once for a batch of commits instead of with each. */
  finish(): Promise<void>;
};

/** The state of an aggregate after its newest commit. */
type StateDocument<C extends Commit> = {
  revision: number;
  commitId: string;
  updatedAt: string;
  state: C['data']['state'];
};

const readsAtOnce = 32;

/** Folds commits, each aggregate's in the order of its revisions. */
export function commitHandler<C extends Commit>(
  projection: Projection<C>,
  log: Pick<EventLog<C>, 'history'>,
): BatchHandler<C> {
  return {
    async prepare(commits) {
      const keys = new Set(commits.map((commit) => projection.keyOf(commit)));
      await inParallel([...keys], readsAtOnce, (key) => projection.primary.get(key).catch(() => undefined));
    },
    fold: (commit) => foldInOrder(projection, log, commit),
    finish: () => projection.finish(),
  };
}

/**
 * Brings an aggregate's documents up to `commit`. Older commits than the documents reflect are skipped; when commits in between have not
 * been seen, they are read from the log. Throws `HistoryBroken` when the log does not have them, and never folds over a hole.
 */
async function foldInOrder<C extends Commit>(
  projection: Projection<C>,
  log: Pick<EventLog<C>, 'history'>,
  commit: C,
): Promise<void> {
  for (;;) {
    const stored = await projection.primary.get(projection.keyOf(commit), { fromLeader: true });
    const reflected = stored?.document.revision ?? 0;
    if (commit.revision <= reflected) return;
    const next = commit.revision === reflected + 1 ? commit : await commitAfter(log, commit, reflected);
    await projection.writeSecondary(next);
    const { revision, id, time, data } = next;
    const document = { revision, commitId: id, updatedAt: time, state: data.state };
    const expectedRevision = stored?.revision ?? 0;
    const written = await projection.primary.put(projection.keyOf(next), document, { expectedRevision });
    if (written !== undefined && revision === commit.revision) return;
  }
}

/** The commit with revision `reflected + 1`, after a check of the whole history up to `commit`. */
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

/** Commits of an aggregate are missing, swapped or changed: its documents stay as they are until an operator acts. */
class HistoryBroken extends Poison {
  override name = 'HistoryBroken';

  constructor(subject: string, lastGoodRevision: number, revision: number) {
    super(`The history of ${subject} is broken: revision ${revision} does not follow revision ${lastGoodRevision}.`);
  }
}
