import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import { insightAnswersDocumentSchema, insightBlockSchema, insightFiguresSchema } from '#shared/contracts/insights.ts';
import {
  auditDocumentSchema,
  contentDocumentSchema,
  type Generation,
  jobListDocumentSchema,
  jobStatusDocumentSchema,
  listDaysDocumentSchema,
  keyDocumentSchema,
  organizationDocumentSchema,
  otherGeneration,
  type ProjectionName,
  type ProjectionPointer,
  usageDocumentSchema,
} from '#shared/contracts/read-models.ts';

/**
 * Documents of one read model (one bucket). Keys are subject-like tokens: `[A-Za-z0-9_=/.-]+`.
 *
 * What an adapter guarantees:
 * - Every change of one key has a growing `revision`; `put` with `expectedRevision` stores only if the key is at that revision
 *   (0: absent) and answers undefined otherwise.
 * - What was removed leaves nothing behind for good: watchers are told, and the trace of it ends within minutes.
 * - `watch` first gives what is there (`initial: true`), then one `caught-up`, then changes as they come, and goes on after reconnects
 *   without a gap. When the bus came back with older data it rejects, and whoever watches begins anew. A document that cannot be read comes as `unreadable` and keeps nothing else back; reading it alone is an `UnreadableDocument`.
 */
export type DocumentStore<T> = {
  get(key: string, options?: { fromLeader?: boolean }): Promise<StoredDocument<T> | undefined>;
  put(key: string, document: T, options?: { expectedRevision?: number }): Promise<number | undefined>;
  /** False when the key is not at `expectedRevision`. */
  remove(key: string, options?: { expectedRevision?: number }): Promise<boolean>;
  /** Those of the keys that are there, in no promised order. */
  getMany(keys: readonly string[]): Promise<ReadDocument<T>[]>;
  /**
   * All documents, a page at a time, in no promised order; no more than a page is in memory, and the next one is read when it is asked for.
   * What is written meanwhile may come, too, and a document that changes may come twice.
   */
  pages(): AsyncIterable<ReadDocument<T>[]>;
  /** Keys that match a subject filter such as `acme.>`; all by default. */
  keys(filter?: string): Promise<string[]>;
  watch(filter: string, signal: AbortSignal): AsyncIterable<DocumentChange<T>>;
};

export type StoredDocument<T> = { key: string; document: T; revision: number };

/** A document of many that are read together: one that cannot be read does not keep the others back. */
export type ReadDocument<T> = { key: string; revision: number } & ({ document: T } | { problem: string });

export type DocumentChange<T> =
  | { kind: 'put'; key: string; document: T; revision: number; initial: boolean }
  | { kind: 'removed'; key: string; revision: number; initial: boolean }
  /** `problem`: a sentence that names the document and what is wrong. */
  | { kind: 'unreadable'; key: string; revision: number; initial: boolean; problem: string }
  | { kind: 'caught-up' };

const followAgainAfterMs = 1_000;

/**
 * Runs `follow`, the loop over a watch, until `signal` aborts. Whenever it ends, `onEnd` hears why, and it begins anew a second later. Never
 * rejects.
 */
export async function keepFollowing(
  follow: () => Promise<void>,
  onEnd: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await follow().then(() => onEnd(new Error('The watch ended.')), onEnd);
    await delay(followAgainAfterMs, undefined, { signal }).catch(() => {});
  }
}

/** Which generation of each read model is read, followed as it changes. */
export type Pointers = {
  /** Waits until the pointers are known; rejects while the bus is away. */
  live(projection: ProjectionName): Promise<Generation>;
  /** Whether updates from a generation count: it is read now, or was until lately, as far as this process knows. */
  counts(projection: ProjectionName, generation: Generation): boolean;
  /** Calls `listener` after each change until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Resolves when nothing is watched any more. */
  close(): Promise<void>;
};

const closeWithinMs = 500;

/** Follows the pointers from the first question on, until `close`. When the watch ends, it begins again with the next question, or after a second. */
export function followPointers(store: Pick<DocumentStore<ProjectionPointer>, 'watch'>): Pointers {
  const known = new Map<string, ProjectionPointer>();
  const listeners = new Set<() => void>();
  const stop = new AbortController();
  let following: Promise<void> | undefined;
  let again: NodeJS.Timeout | undefined;
  let ended: Promise<void> = Promise.resolve();

  /** Resolves once all stored pointers have been read, and goes on watching. */
  const follow = () =>
    new Promise<void>((resolve, reject) => {
      const run = async () => {
        const unseen = new Set(known.keys());
        for await (const change of store.watch('>', stop.signal)) {
          if (change.kind === 'put') {
            known.set(change.key, change.document);
            unseen.delete(change.key);
          }
          if (change.kind === 'caught-up') {
            for (const key of unseen) known.delete(key);
            resolve();
          }
          // A new watch may bring a flip that the one before missed.
          if (change.kind === 'caught-up' || !change.initial) for (const listener of listeners) listener();
        }
        throw new Error('The watch of the pointers to read models ended.');
      };
      ended = run().catch((error: unknown) => {
        following = undefined;
        reject(error instanceof Error ? error : new Error(String(error)));
        if (!stop.signal.aborted) again = setTimeout(() => void followed().catch(() => {}), followAgainAfterMs);
      });
    });
  const followed = (): Promise<void> => {
    clearTimeout(again);
    following ??= follow();
    return following;
  };

  const live = (projection: ProjectionName): Generation => known.get(projection)?.live ?? 'blue';
  return {
    async live(projection) {
      await followed();
      return live(projection);
    },
    counts: (projection, generation) =>
      live(projection) === generation ||
      (known.get(projection)?.keptUntil !== undefined && otherGeneration(live(projection)) === generation),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => {
      clearTimeout(again);
      stop.abort();
      // Nobody waits for a watch whose bus is away.
      await Promise.race([ended, delay(closeWithinMs, undefined, { ref: false })]);
    },
  };
}

/**
 * The store of the generation that is read now. At a flip a watch goes over to the new generation: its documents come
 * again (`initial`), and then another `caught-up`. Revisions count within one generation only.
 */
export function liveStore<T>(
  pointers: Pointers,
  projection: ProjectionName,
  of: Readonly<Record<Generation, DocumentStore<T>>>,
): DocumentStore<T> {
  const now = async () => of[await pointers.live(projection)];
  return {
    get: async (key, options) => (await now()).get(key, options),
    put: async (key, document, options) => (await now()).put(key, document, options),
    remove: async (key, options) => (await now()).remove(key, options),
    getMany: async (keys) => (await now()).getMany(keys),
    async *pages() {
      yield* (await now()).pages();
    },
    keys: async (filter) => (await now()).keys(filter),
    async *watch(filter, signal) {
      while (!signal.aborted) {
        const flipped = new AbortController();
        const generation = await pointers.live(projection);
        const forget = pointers.onChange(() => {
          const check = async () => (await pointers.live(projection)) !== generation && flipped.abort();
          // A pointer that cannot be read is no flip; the watch itself notices when the bus is away.
          void check().catch(() => {});
        });
        try {
          yield* of[generation].watch(filter, AbortSignal.any([signal, flipped.signal]));
          if (!flipped.signal.aborted) return;
        } finally {
          forget();
        }
      }
    },
  };
}

type ReadModelRow<T> = {
  projection: ProjectionName;
  /** The bucket of the blue generation. */
  bucket: string;
  schema: z.ZodType<T>;
  /** Tells the kinds apart that share a bucket; callers do not see it. */
  prefix: string;
  /** Many aggregates share a document, so it is written often. */
  isShared: boolean;
  /** Each document is a part of a list by day. */
  isInParts: boolean;
};

const row = <T>(
  projection: ProjectionName,
  bucket: string,
  schema: z.ZodType<T>,
  { prefix = '', isShared = false, isInParts = false }: Partial<ReadModelRow<T>> = {},
): ReadModelRow<T> => ({ projection, bucket, schema, prefix, isShared, isInParts });

/** The parts of a list by day, which many aggregates share. */
const parts = (prefix: string) => ({ prefix, isShared: true, isInParts: true });
const shared = (prefix: string) => ({ prefix, isShared: true });

/** Every read model: the projection that fills it, and where and how its documents are stored. */
export const readModelTable = {
  jobStatus: row('exports', 'job-status', jobStatusDocumentSchema),
  jobList: row('exports', 'job-list', jobListDocumentSchema, parts('list.')),
  jobDays: row('exports', 'job-list', listDaysDocumentSchema, shared('days.')),
  directoryOrganizations: row('directory', 'directory', organizationDocumentSchema, { prefix: 'org.' }),
  directoryKeys: row('directory', 'directory', keyDocumentSchema, { prefix: 'key.' }),
  directoryContents: row('content', 'directory', contentDocumentSchema, { prefix: 'content.' }),
  auditExports: row('exports', 'audit', auditDocumentSchema, parts('exports.')),
  auditContent: row('content', 'audit', auditDocumentSchema, parts('content.')),
  auditDirectory: row('directory', 'audit', auditDocumentSchema, parts('directory.')),
  auditAccess: row('access', 'audit', auditDocumentSchema, parts('access.')),
  auditExportsDays: row('exports', 'audit', listDaysDocumentSchema, shared('exports-days.')),
  auditContentDays: row('content', 'audit', listDaysDocumentSchema, shared('content-days.')),
  auditDirectoryDays: row('directory', 'audit', listDaysDocumentSchema, shared('directory-days.')),
  auditAccessDays: row('access', 'audit', listDaysDocumentSchema, shared('access-days.')),
  usageExports: row('exports', 'usage', usageDocumentSchema, shared('exports.')),
  usageContent: row('content', 'usage', usageDocumentSchema, shared('content.')),
  usageAccess: row('access', 'usage', usageDocumentSchema, shared('access.')),
  insightAnswers: row('conversations', 'insights', insightAnswersDocumentSchema, parts('answers.')),
  insightAnswerDays: row('conversations', 'insights', listDaysDocumentSchema, shared('days.')),
  insightBlocks: row('conversations', 'insights', insightBlockSchema, { prefix: 'blocks.' }),
  insightFigures: row('conversations', 'insights', insightFiguresSchema, shared('figures.')),
  usageConversations: row('conversations', 'usage', usageDocumentSchema, shared('conversations.')),
};

export type ReadModelName = keyof typeof readModelTable;

/** The stores that projections fill: those of one generation, or those that are read now. */
export type ReadModels = {
  [Name in ReadModelName]: DocumentStore<(typeof readModelTable)[Name] extends ReadModelRow<infer T> ? T : never>;
};

/** One store for each read model. */
export function readModelsBy(
  store: (row: ReadModelRow<unknown>, name: ReadModelName) => DocumentStore<never>,
): ReadModels {
  const rows = Object.entries(readModelTable) as [ReadModelName, ReadModelRow<unknown>][];
  return Object.fromEntries(rows.map(([name, each]) => [name, store(each, name)])) as unknown as ReadModels;
}

/**
 * Which stores belong to which projection, in the order of writing. The last one says which revisions have been folded, where a log has
 * revisions. Usage is counted from entries, and so are insights, so they are written after them; the parts of a list are written after the document that
 * counts them.
 */
export const storesOf = {
  exports: ['auditExportsDays', 'auditExports', 'usageExports', 'jobDays', 'jobList', 'jobStatus'],
  content: ['auditContentDays', 'auditContent', 'usageContent', 'directoryContents'],
  directory: ['auditDirectoryDays', 'auditDirectory', 'directoryKeys', 'directoryOrganizations'],
  access: ['auditAccessDays', 'auditAccess', 'usageAccess'],
  conversations: ['insightAnswerDays', 'insightAnswers', 'insightBlocks', 'usageConversations', 'insightFigures'],
} as const satisfies Record<ProjectionName, readonly ReadModelName[]>;

/** The read models that are read now. */
export function liveReadModels(pointers: Pointers, generations: Record<Generation, ReadModels>): ReadModels {
  return readModelsBy(({ projection }, name) =>
    liveStore(pointers, projection, {
      blue: generations.blue[name] as DocumentStore<never>,
      green: generations.green[name] as DocumentStore<never>,
    }),
  );
}
