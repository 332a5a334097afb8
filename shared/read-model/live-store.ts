import type { ProjectionName } from '#shared/contracts/projection-pointer.ts';
import type { DocumentStore } from './document-store.ts';
import type { Generation } from './generation.ts';
import type { Pointers } from './pointers.ts';

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
