import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import { insightAnswersDocumentSchema, insightBlockSchema, insightFiguresSchema } from '#shared/contracts/insights.ts';
import { siteViewsDocumentSchema } from '#shared/contracts/site-views.ts';
import {
  auditDocumentSchema,
  contentDocumentSchema,
  type Generation,
  jobListDocumentSchema,
  jobStatusDocumentSchema,
  listDaysDocumentSchema,
  keyDocumentSchema,
  organizationDocumentSchema,
  siteDeploymentsDocumentSchema,
  siteDocumentSchema,
  otherGeneration,
  type ProjectionName,
  type ProjectionPointer,
  usageDocumentSchema,
} from '#shared/interfaces/read-models.ts';

/**
 * Documents of one read model (one bucket). Keys are subject-like tokens: `[A-Za-z0-9_=/.-]+`.
 *
 * Adapters guarantee:
 * - Every change of one key has a growing `revision`. `put` with `expectedRevision` stores only if the key is at that revision (0: absent),
 *   and resolves to undefined otherwise.
 * - A removal leaves nothing behind permanently: watchers are told, and its tombstone expires within minutes.
 * - `watch` first yields the stored documents (`initial: true`), then one `caught-up`, then changes as they come, and continues after
 *   reconnects without a gap. When the bus came back with older data it rejects, and the watcher has to begin again. A document that cannot
 *   be read comes as `unreadable` and does not block the others; reading it alone rejects with `UnreadableDocument`.
 */
export type DocumentStore<T> = {
  get(key: string, options?: { fromLeader?: boolean }): Promise<StoredDocument<T> | undefined>;
  /** The stored text of a document, for callers that search many documents for a few words and parse only those with them. */
  getText(key: string): Promise<StoredText<T> | undefined>;
  put(key: string, document: T, options?: { expectedRevision?: number }): Promise<number | undefined>;
  /** Removes a document. Returns false when the key is not at `expectedRevision`. */
  remove(key: string, options?: { expectedRevision?: number }): Promise<boolean>;
  /** The documents of those keys that exist, in no particular order. */
  getMany(keys: readonly string[]): Promise<ReadDocument<T>[]>;
  /**
   * All documents, page by page, in no particular order. Only one page is in memory; the next one is read on demand. Documents written
   * meanwhile may be included, and a document that changes may come twice.
   */
  pages(): AsyncIterable<ReadDocument<T>[]>;
  /** Keys that match a subject filter such as `acme.>`; all by default. */
  keys(filter?: string): Promise<string[]>;
  watch(filter: string, signal: AbortSignal): AsyncIterable<DocumentChange<T>>;
};

/**
 * A mark of a bucket, which is lost and restored together with the bucket. It appears in no list of the bucket's documents, in programs of earlier
 * versions either. The calls reject with `BusPartMissing` when the bucket is missing.
 */
export type BucketMark = {
  isSet(): Promise<boolean>;
  set(): Promise<void>;
};

export type StoredDocument<T> = { key: string; document: T; revision: number };

/** `text`: JSON in UTF-8, as `JSON.stringify` writes it. `parse` reads it, or a text that has fewer entries, and throws `UnreadableDocument`. */
type StoredText<T> = { key: string; revision: number; text: Buffer; parse(text?: Buffer): T };

/** One of many documents that are read together. An unreadable one does not block the others. */
export type ReadDocument<T> = { key: string; revision: number } & ({ document: T } | { problem: string });

export type DocumentChange<T> =
  | { kind: 'put'; key: string; document: T; revision: number; initial: boolean }
  | { kind: 'removed'; key: string; revision: number; initial: boolean }
  /** `problem`: a sentence that names the document and the problem. */
  | { kind: 'unreadable'; key: string; revision: number; initial: boolean; problem: string }
  | { kind: 'caught-up' };

const followAgainAfterMs = 1_000;

/**
 * Runs `follow`, the loop over a watch, until `signal` aborts. Whenever the loop ends, `onEnd` receives the reason, and the loop begins
 * again a second later. Never rejects.
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

/** The generation that is read, for each read model, followed as it changes. */
export type Pointers = {
  /** Waits until the pointers are known. Rejects while the bus is unavailable. */
  live(projection: ProjectionName): Promise<Generation>;
  /** True if updates from a generation count: it is the one that is read, or was until recently, as far as this process knows. */
  counts(projection: ProjectionName, generation: Generation): boolean;
  /** Calls `listener` after each change until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Resolves when the watch has ended. */
  close(): Promise<void>;
};

const closeWithinMs = 500;

/**
 * Follows the pointers from the first question on, until `close`. When the watch ends, it begins again with the next question, or after a
 * second.
 */
export function followPointers(store: Pick<DocumentStore<ProjectionPointer>, 'watch'>): Pointers {
  const known = new Map<string, ProjectionPointer>();
  const listeners = new Set<() => void>();
  const stop = new AbortController();
  let following: Promise<void> | undefined;
  let again: NodeJS.Timeout | undefined;
  let ended: Promise<void> = Promise.resolve();

  /** Resolves once all stored pointers have been read, and continues to watch. */
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
          // A new watch may bring a flip that the previous one missed.
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
      // The watch does not end while its bus is unavailable, so the wait has a limit.
      await Promise.race([ended, delay(closeWithinMs, undefined, { ref: false })]);
    },
  };
}

/**
 * The store of the generation that is currently read. At a flip a watch moves to the new generation: its documents come again (`initial`),
 * followed by another `caught-up`. Revisions count within one generation only.
 */
export function liveStore<T>(
  pointers: Pointers,
  projection: ProjectionName,
  of: Readonly<Record<Generation, DocumentStore<T>>>,
): DocumentStore<T> {
  const now = async () => of[await pointers.live(projection)];
  return {
    get: async (key, options) => (await now()).get(key, options),
    getText: async (key) => (await now()).getText(key),
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
          // A pointer that cannot be read is no flip. The watch itself notices when the bus is unavailable.
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
  /** Distinguishes the kinds that share a bucket. Callers do not see it. */
  prefix: string;
  /** True if many aggregates share a document, so that it is written often. */
  isShared: boolean;
  /** True if each document is a part of a list by day. */
  isInParts: boolean;
};

const row = <T>(
  projection: ProjectionName,
  bucket: string,
  schema: z.ZodType<T>,
  { prefix = '', isShared = false, isInParts = false }: Partial<ReadModelRow<T>> = {},
): ReadModelRow<T> => ({ projection, bucket, schema, prefix, isShared, isInParts });

/** Settings for the parts of a list by day, which many aggregates share. */
const parts = (prefix: string) => ({ prefix, isShared: true, isInParts: true });
const shared = (prefix: string) => ({ prefix, isShared: true });

/** Every read model: the projection that fills it, its bucket and its schema. */
export const readModelTable = {
  jobStatus: row('exports', 'job-status', jobStatusDocumentSchema),
  jobList: row('exports', 'job-list', jobListDocumentSchema, parts('list.')),
  jobDays: row('exports', 'job-list', listDaysDocumentSchema, shared('days.')),
  directoryOrganizations: row('directory', 'directory', organizationDocumentSchema, { prefix: 'org.' }),
  directoryKeys: row('directory', 'directory', keyDocumentSchema, { prefix: 'key.' }),
  directoryContents: row('content', 'directory', contentDocumentSchema, { prefix: 'content.' }),
  sites: row('sites', 'sites', siteDocumentSchema),
  siteDeployments: row('sites', 'directory', siteDeploymentsDocumentSchema, { prefix: 'deployments.' }),
  auditExports: row('exports', 'audit', auditDocumentSchema, parts('exports.')),
  auditContent: row('content', 'audit', auditDocumentSchema, parts('content.')),
  auditSites: row('sites', 'audit', auditDocumentSchema, parts('sites.')),
  auditDirectory: row('directory', 'audit', auditDocumentSchema, parts('directory.')),
  auditAccess: row('access', 'audit', auditDocumentSchema, parts('access.')),
  auditExportsDays: row('exports', 'audit', listDaysDocumentSchema, shared('exports-days.')),
  auditContentDays: row('content', 'audit', listDaysDocumentSchema, shared('content-days.')),
  auditSitesDays: row('sites', 'audit', listDaysDocumentSchema, shared('sites-days.')),
  auditDirectoryDays: row('directory', 'audit', listDaysDocumentSchema, shared('directory-days.')),
  auditAccessDays: row('access', 'audit', listDaysDocumentSchema, shared('access-days.')),
  usageExports: row('exports', 'usage', usageDocumentSchema, shared('exports.')),
  usageContent: row('content', 'usage', usageDocumentSchema, shared('content.')),
  usageAccess: row('access', 'usage', usageDocumentSchema, shared('access.')),
  siteViews: row('views', 'views', siteViewsDocumentSchema, { isShared: true }),
  insightAnswers: row('conversations', 'insights', insightAnswersDocumentSchema, parts('answers.')),
  insightAnswerDays: row('conversations', 'insights', listDaysDocumentSchema, shared('days.')),
  insightBlocks: row('conversations', 'insights', insightBlockSchema, { prefix: 'blocks.' }),
  insightFigures: row('conversations', 'insights', insightFiguresSchema, shared('figures.')),
  usageConversations: row('conversations', 'usage', usageDocumentSchema, shared('conversations.')),
};

export type ReadModelName = keyof typeof readModelTable;

/** The stores of the read models of one generation, or of those that are currently read. */
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
 * The stores of each projection, in the order of writing. The last one holds the revisions that have been folded, where a log has
 * revisions. Usage and insights are counted from entries, so they are written after them; the parts of a list are written after the
 * document that counts them.
 */
export const storesOf = {
  exports: ['auditExportsDays', 'auditExports', 'usageExports', 'jobDays', 'jobList', 'jobStatus'],
  content: ['auditContentDays', 'auditContent', 'usageContent', 'directoryContents'],
  sites: ['auditSitesDays', 'auditSites', 'siteDeployments', 'sites'],
  directory: ['auditDirectoryDays', 'auditDirectory', 'directoryKeys', 'directoryOrganizations'],
  access: ['auditAccessDays', 'auditAccess', 'usageAccess'],
  views: ['siteViews'],
  conversations: ['insightAnswerDays', 'insightAnswers', 'insightBlocks', 'usageConversations', 'insightFigures'],
} as const satisfies Record<ProjectionName, readonly ReadModelName[]>;

/** The read models of the generation that is currently read. */
export function liveReadModels(pointers: Pointers, generations: Record<Generation, ReadModels>): ReadModels {
  return readModelsBy(({ projection }, name) =>
    liveStore(pointers, projection, {
      blue: generations.blue[name] as DocumentStore<never>,
      green: generations.green[name] as DocumentStore<never>,
    }),
  );
}
