import { type RetryPolicy, retryUnavailable } from '#shared/runtime/retry.ts';
import type { ObjectStore } from './object-store.ts';

/** When a store does not answer for longer, it is away: the work as a whole is tried again. */
const longestMs = 10_000;

/**
 * The store for work that reads thousands of objects: a read that the store refuses for now is repeated by itself. Otherwise a store that refuses one call
 * in a few hundred lets such work begin again and again, and never end.
 */
export function repeatReads(objectStore: ObjectStore, policy: RetryPolicy, signal: AbortSignal): ObjectStore {
  const briefly = { ...policy, giveUpAfterMs: Math.min(longestMs, policy.giveUpAfterMs ?? longestMs) };
  const again = <T>(read: () => Promise<T>): Promise<T> => retryUnavailable(briefly, signal, read);
  return {
    ...objectStore,
    get: (key, options) => again(() => objectStore.get(key, options)),
    getStream: (key, options) => again(() => objectStore.getStream(key, options)),
    head: (key, options) => again(() => objectStore.head(key, options)),
  };
}
