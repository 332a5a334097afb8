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
  close(): void;
};

/** Follows the pointers from the first question on, and begins again with the next question when the watch ends. */
export function followPointers(store: Pick<DocumentStore<ProjectionPointer>, 'watch'>): Pointers {
  const known = new Map<string, ProjectionPointer>();
  const listeners = new Set<() => void>();
  const stop = new AbortController();
  let following: Promise<void> | undefined;

  const notify = () => {
    for (const listener of listeners) listener();
  };

  /** Resolves once what is there has been read, and goes on. */
  const follow = () =>
    new Promise<void>((resolve, reject) => {
      const run = async () => {
        for await (const change of store.watch('>', stop.signal)) {
          if (change.kind === 'put') known.set(change.key, change.document);
          if (change.kind === 'caught-up') resolve();
          if (change.kind === 'caught-up' || !change.initial) notify();
        }
        throw new Error('The watch of the pointers to read models ended.');
      };
      run().catch((error: unknown) => {
        following = undefined;
        reject(error instanceof Error ? error : new Error(String(error)));
        // Whoever reads on by what was known might miss a change: let it ask again.
        notify();
      });
    });

  const live = (projection: ProjectionName): Generation => known.get(projection)?.live ?? 'blue';
  return {
    async live(projection) {
      following ??= follow();
      await following;
      return live(projection);
    },
    counts: (projection, generation) =>
      live(projection) === generation ||
      (known.get(projection)?.keptUntil !== undefined && otherGeneration(live(projection)) === generation),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => stop.abort(),
  };
}
