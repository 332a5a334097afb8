import { setTimeout as delay } from 'node:timers/promises';
import type {
  AuditDocument,
  ContentDocument,
  JobListDocument,
  JobStatusDocument,
  KeyDocument,
  OrganizationDocument,
  ProjectionName,
  ProjectionPointer,
  UsageDocument,
} from '#shared/contracts/read-models.ts';
import { type Generation, otherGeneration } from './subjects/projection-table.ts';

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

/** Which generation of each read model is read, followed as it changes. */
export type Pointers = {
  /** Waits until the pointers are known; rejects while the bus is away. */
  live(projection: ProjectionName): Promise<Generation>;
  /** Whether updates from a generation count: it is read, or was until lately. As far as is known now. */
  counts(projection: ProjectionName, generation: Generation): boolean;
  /** Calls `listener` after each change until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Resolves when nothing is watched any more. */
  close(): Promise<void>;
};

const followAgainAfterMs = 1_000;
const closeWithinMs = 500;

/** Follows the pointers from the first question on, until `close`. When the watch ends, the next question or a second later begins it again. */
export function followPointers(store: Pick<DocumentStore<ProjectionPointer>, 'watch'>): Pointers {
  const known = new Map<string, ProjectionPointer>();
  const listeners = new Set<() => void>();
  const stop = new AbortController();
  let following: Promise<void> | undefined;
  let again: NodeJS.Timeout | undefined;
  let ended: Promise<void> = Promise.resolve();

  /** Resolves once what is there has been read, and goes on. */
  const follow = () =>
    new Promise<void>((resolve, reject) => {
      const run = async () => {
        for await (const change of store.watch('>', stop.signal)) {
          if (change.kind === 'put') known.set(change.key, change.document);
          if (change.kind === 'caught-up') resolve();
          // A watch that began again may bring a flip that the one before did not see.
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
      // A watch that waits for a bus that is away is not waited for.
      await Promise.race([ended, delay(closeWithinMs, undefined, { ref: false })]);
    },
  };
}

/**
 * The generation of a store that is read now, whichever that is. A watch goes over to the new generation at a flip: what is there comes
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
    remove: async (key) => (await now()).remove(key),
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

/** The stores that projections fill, of one generation or of whichever is read. */
export type ReadModels = {
  jobStatus: DocumentStore<JobStatusDocument>;
  jobList: DocumentStore<JobListDocument>;
  directoryOrganizations: DocumentStore<OrganizationDocument>;
  directoryKeys: DocumentStore<KeyDocument>;
  directoryContents: DocumentStore<ContentDocument>;
  auditExports: DocumentStore<AuditDocument>;
  auditContent: DocumentStore<AuditDocument>;
  auditDirectory: DocumentStore<AuditDocument>;
  auditAccess: DocumentStore<AuditDocument>;
  usageExports: DocumentStore<UsageDocument>;
  usageContent: DocumentStore<UsageDocument>;
  usageAccess: DocumentStore<UsageDocument>;
};

/**
 * Which stores belong to which projection, in the order of writing. The last one says which revisions have been folded, where a log has
 * revisions; what is counted is written after what it is counted from.
 */
export const storesOf = {
  exports: ['auditExports', 'usageExports', 'jobList', 'jobStatus'],
  content: ['auditContent', 'usageContent', 'directoryContents'],
  directory: ['auditDirectory', 'directoryKeys', 'directoryOrganizations'],
  access: ['auditAccess', 'usageAccess'],
} as const satisfies Record<ProjectionName, readonly (keyof ReadModels)[]>;

/** The read models that are read now. */
export function liveReadModels(pointers: Pointers, { blue, green }: Record<Generation, ReadModels>): ReadModels {
  const store = <T>(projection: ProjectionName, of: (models: ReadModels) => DocumentStore<T>) =>
    liveStore(pointers, projection, { blue: of(blue), green: of(green) });
  return {
    jobStatus: store('exports', (models) => models.jobStatus),
    jobList: store('exports', (models) => models.jobList),
    directoryOrganizations: store('directory', (models) => models.directoryOrganizations),
    directoryKeys: store('directory', (models) => models.directoryKeys),
    directoryContents: store('content', (models) => models.directoryContents),
    auditExports: store('exports', (models) => models.auditExports),
    auditContent: store('content', (models) => models.auditContent),
    auditDirectory: store('directory', (models) => models.auditDirectory),
    auditAccess: store('access', (models) => models.auditAccess),
    usageExports: store('exports', (models) => models.usageExports),
    usageContent: store('content', (models) => models.usageContent),
    usageAccess: store('access', (models) => models.usageAccess),
  };
}
