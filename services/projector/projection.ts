import type { Commit } from '#shared/contracts/commit.ts';
import type { Anchored, Generation, ProjectionName } from '#shared/interfaces/read-models.ts';
import type { BusOf, BusParts } from '#shared/messaging/bus.ts';
import type { DurableReader } from '#shared/messaging/queue/durable-reader.ts';
import type { EventLog } from '#shared/messaging/log/event-log.ts';
import { anchorOf } from '#shared/messaging/log/head-anchor.ts';
import type { DocumentStore, ReadModels } from '#shared/messaging/read-models.ts';
import { Conflict, Poison } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

/** Dependencies of the projector. */
export type ProjectorContext = {
  bus: BusOf<'projector'>;
  /** Holder of the leases. */
  instance: string;
  clock: Clock;
  logger: Logger;
  /** Archive of old histories of export jobs, if there is one. */
  archive?: Archive;
  /** Key of the anchors of histories, which writers of logs do not have. */
  auditKey: string;
};

/** The part of the object store that a projector reads. */
type Archive = Pick<ObjectStore, 'list' | 'get' | 'head'>;

/** A projection with its dependencies. */
export type ProjectionRun<M> = ProjectorContext & { source: ProjectionSource<M> };

/** One projection for any generation: the source of its messages, and the fold into given stores. */
export type ProjectionSource<M> = {
  name: ProjectionName;
  /** Version of the form of its documents, incremented when stored documents must be rebuilt. A projector rebuilds them automatically. */
  shape: number;
  /** True if each message is folded independently. Otherwise, the messages of one subject build on each other. */
  isUnordered?: true;
  openReader(bus: Pick<BusParts, 'projectionReaders'>, generation: Generation): Promise<DurableReader<M>>;
  into: (stores: Stores, logs: Logs, by: Witness) => BatchHandler<M>;
  archived?: ArchivedSource<M>;
  /**
   * Records the content of documents of past days in their log. The messages that made these documents may then expire. `models` is the generation that
   * is read, and it contains everything that was stored before `until`. `confirm` rejects when this process may have lost the lead: a document that was
   * read before it is whole.
   */
  record?(models: ReadModels, context: RecordContext): Promise<void>;
  /** Removes documents whose retention has ended, so that both generations have the same: they depend on the log, the archive and the day alone. */
  expire?(generations: readonly ReadModels[], context: ExpiryContext): Promise<void>;
};

/** The archived messages of a log, and the documents that are kept of them. */
type ArchivedSource<M> = {
  /** The archived histories, and the objects that are not histories. */
  histories(
    archive: Archive,
    signal: AbortSignal,
  ): AsyncIterable<{ key: string; commits: M[] } | { key: string; problem: string }>;
  into: (stores: Stores) => BatchHandler<M>;
};

export type RecordContext = {
  bus: Pick<BusParts, 'views'>;
  until: Date;
  /** The time `until` of the last call of this leader that succeeded. A new leader does not know what others have recorded. */
  before?: Date | undefined;
  confirm: () => Promise<void>;
  signal: AbortSignal;
};

export type ExpiryContext = Pick<ProjectorContext, 'archive'> & {
  now: Date;
  signal: AbortSignal;
  exports: Pick<BusParts['exports'], 'subjects'>;
};

/** The operations of a store that a projection needs. */
export type Store<T> = Pick<DocumentStore<T>, 'get' | 'put'>;

type Stores = { [Name in keyof ReadModels]: Pick<ReadModels[Name], 'get' | 'put'> };

/** The logs that a projection can read again. */
type Logs = Pick<BusParts, 'exports' | 'content' | 'sites' | 'directory'>;

/** Dependencies for anchoring a history. */
export type Witness = Pick<ProjectorContext, 'auditKey' | 'logger'>;

/** Folds one batch of messages into stores that are written at its end. */
export type BatchHandler<M> = {
  /** Reads the inputs of `fold` concurrently. If one cannot be read, `fold` fails, and this does not. */
  prepare?(messages: readonly M[]): Promise<void>;
  /** Folds one message. Idempotent, also after later messages. With `overHole` it may follow messages that an operator dropped. */
  fold(message: M, options?: { overHole?: boolean }): Promise<void>;
  /** Work that is done once for all messages of the batch. All documents have been put when it resolves. */
  finish(): Promise<void>;
};

/** Another process wrote a document between its read and its write. The messages must be folded again. */
export class WrittenMeanwhile extends Conflict {
  override name = 'WrittenMeanwhile';

  constructor(key: string) {
    super(`The document "${key}" was written by another process.`);
  }
}

/** Changes a document, and retries after another writer was faster. `change` returns undefined if the document needs no change. */
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
 * Makes documents from one kind of aggregate. The primary document of an aggregate records the folded revision; it is written last, so a reader who
 * sees it sees the others too.
 */
export type Projection<C extends Commit> = {
  primary: Store<StateDocument<C>>;
  keyOf(commit: C): string;
  /**
   * Writes everything but the primary document; repeating it, also with an older commit than was written, changes nothing. `lost` is the state of
   * commits that the log has lost: documents from them are replaced by this commit's.
   */
  writeSecondary(commit: C, lost?: C['data']['state']): Promise<void>;
  /** Writes documents once for a batch of commits instead of with each. */
  finish(): Promise<void>;
};

/** The state of an aggregate after its newest commit. */
type StateDocument<C extends Commit> = Anchored & { state: C['data']['state'] };

const readsAtOnce = 32;

/** Folds commits, in the order of revisions for each aggregate. */
export function commitHandler<C extends Commit>(
  projection: Projection<C>,
  log: CommitLog<C>,
  by: Witness,
): BatchHandler<C> {
  return {
    async prepare(commits) {
      const keys = new Set(commits.map((commit) => projection.keyOf(commit)));
      await inParallel([...keys], readsAtOnce, (key) => projection.primary.get(key).catch(() => undefined));
    },
    fold: (commit, { overHole = false } = {}) => foldInOrder(projection, log, by, commit, overHole),
    finish: () => projection.finish(),
  };
}

type CommitLog<C extends Commit> = Pick<EventLog<C>, 'history' | 'last'>;

/**
 * Brings an aggregate's documents up to `commit`. Commits older than the documents are skipped; unseen commits in between are read from the log. A
 * server that lost the end of a log reuses its sequences and revisions, so a commit counts as seen by its id and hash alone. Documents of lost
 * commits are rebuilt from the log, and record the lost commit. Throws `HistoryBroken` when the log has a gap or a wrong hash. It folds over a gap
 * only if an operator made it (`overHole`): then the state in the commit is used.
 */
async function foldInOrder<C extends Commit>(
  projection: Projection<C>,
  log: CommitLog<C>,
  by: Witness,
  commit: C,
  overHole: boolean,
): Promise<void> {
  for (;;) {
    const stored = await projection.primary.get(projection.keyOf(commit), { fromLeader: true });
    const reflected = stored?.document;
    if (reflected !== undefined && (await isSeen(log, commit, reflected))) return;
    const { from, isLost } = await startOf(log, commit, reflected).catch((error: unknown) => {
      if (overHole && error instanceof Poison) return { from: commit.revision, isLost: false };
      throw error;
    });
    if (from < commit.revision) await writePassed(projection, log, commit, from);
    await projection.writeSecondary(commit, isLost ? reflected?.state : undefined);
    const lost = isLost && reflected !== undefined ? [...(reflected.lost ?? []), headOf(reflected)] : reflected?.lost;
    const document = anchoredDocument(commit, lost, by);
    const expectedRevision = stored?.revision ?? 0;
    const written = await projection.primary.put(projection.keyOf(commit), document, { expectedRevision });
    if (written === undefined) continue;
    if (isLost) {
      const { subject } = commit;
      by.logger.error(
        { subject, lost: lost?.at(-1) },
        'the log has lost commits; documents were rebuilt from the commits that it has',
      );
    }
    return;
  }
}

const mostLost = 10;

function anchoredDocument<C extends Commit>(
  commit: C,
  lost: Anchored['lost'],
  { auditKey }: Witness,
): StateDocument<C> {
  const { subject, revision, id: commitId, hash, time: updatedAt, data } = commit;
  const kept = lost === undefined ? {} : { lost: lost.slice(-mostLost) };
  const anchor = anchorOf(auditKey, subject, { revision, commitId, hash, ...kept });
  return { revision, commitId, updatedAt, hash, anchor, ...kept, state: data.state };
}

const headOf = ({ revision, commitId, hash }: Anchored) => ({
  revision,
  commitId,
  ...(hash === undefined ? {} : { hash }),
});

/** True if the documents reflect this commit. Older documents have no hash. */
const isReflected = ({ id, hash }: Commit, reflected: Anchored): boolean =>
  id === reflected.commitId && hash === (reflected.hash ?? hash);

/** True if the documents reflect this commit or a later one of the same history. Later commits are not checked, because they are delivered too. */
async function isSeen<C extends Commit>(log: CommitLog<C>, commit: C, reflected: Anchored): Promise<boolean> {
  if (commit.revision > reflected.revision) return false;
  if (isReflected(commit, reflected)) return true;
  const last = await log.last(commit.subject, { fromLeader: true });
  // A history that is no longer in the log was archived.
  if (last === undefined || isReflected(last.commit, reflected)) return true;
  return last.commit.revision > reflected.revision;
}

/**
 * The first revision to fold to get from the reflected commit to `commit`. If the log has another commit at the reflected revision, that one is lost,
 * and all are folded again.
 */
async function startOf<C extends Commit>(
  log: CommitLog<C>,
  commit: C,
  reflected: Anchored | undefined,
): Promise<{ from: number; isLost: boolean }> {
  const next = (reflected?.revision ?? 0) + 1;
  const follows = (reflected?.hash ?? commit.previousHash) === commit.previousHash;
  if (commit.revision === next && follows) return { from: next, isLost: false };
  const at = await checkedCommit(log, commit, reflected?.revision ?? 0);
  const isKnown = reflected === undefined || (at !== undefined && isReflected(at, reflected));
  return isKnown ? { from: next, isLost: false } : { from: 1, isLost: true };
}

/** The commit with that revision, after a check of the whole history up to `commit`; undefined if there is none. */
async function checkedCommit<C extends Commit>(log: CommitLog<C>, commit: C, revision: number): Promise<C | undefined> {
  let found: C | undefined;
  let previous: C | undefined;
  for await (const { commit: read } of log.history(commit.subject)) {
    if (read.revision !== (previous?.revision ?? 0) + 1 || read.previousHash !== (previous?.hash ?? '')) {
      throw new HistoryBroken(commit.subject, previous?.revision ?? 0, read.revision);
    }
    if (read.revision === revision) found = read;
    previous = read;
    if (read.revision === commit.revision) break;
  }
  if (previous?.hash !== commit.hash) {
    throw new HistoryBroken(commit.subject, previous?.revision ?? 0, commit.revision);
  }
  return found;
}

/** Writes the documents of the commits before `commit`, from that revision on. */
async function writePassed<C extends Commit>(
  projection: Projection<C>,
  log: CommitLog<C>,
  commit: C,
  from: number,
): Promise<void> {
  for await (const { commit: passed } of log.history(commit.subject)) {
    if (passed.revision >= commit.revision) break;
    if (passed.revision >= from) await projection.writeSecondary(passed);
  }
}

/** Commits of an aggregate are missing, swapped or changed: its documents stay unchanged until an operator acts. */
class HistoryBroken extends Poison {
  override name = 'HistoryBroken';

  constructor(subject: string, lastGoodRevision: number, revision: number) {
    super(`The history of ${subject} is broken: revision ${revision} does not follow revision ${lastGoodRevision}.`);
  }
}
