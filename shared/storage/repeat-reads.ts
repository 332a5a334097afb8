import { type RetryPolicy, retryUnavailable } from '#shared/runtime/retry.ts';
import type { ObjectStore } from './object-store.ts';

/** Limit of retries. A store that does not answer for longer is unavailable, and the whole work is retried. */
const longestMs = 10_000;

/**
 * The store for work that reads thousands of objects: a read that the store temporarily refuses is retried. Otherwise a store that refuses
 * one call in a few hundred would restart such work again and again.
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
