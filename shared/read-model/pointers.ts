import { setTimeout as delay } from 'node:timers/promises';
import type { ProjectionName, ProjectionPointer } from '#shared/contracts/projection-pointer.ts';
import type { DocumentStore } from './document-store.ts';
import { type Generation, otherGeneration } from './generation.ts';

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
