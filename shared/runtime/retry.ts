import { setTimeout } from 'node:timers/promises';
import { BusUnavailable } from '#shared/messaging/bus.ts';
import { ObjectStoreUnavailable } from '#shared/storage/object-store.ts';

const firstPauseMs = 100;
const longestPauseMs = 5_000;

/**
 * Repeats a call with growing pauses while bus or object store are away, for up to `giveUpAfterMs`; then rejects with their error.
 * Anything else, and `signal`, ends it at once.
 */
export async function whileUnavailable<T>(
  giveUpAfterMs: number,
  signal: AbortSignal,
  call: () => Promise<T>,
): Promise<T> {
  const giveUpAt = performance.now() + giveUpAfterMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      const isAway = error instanceof ObjectStoreUnavailable || error instanceof BusUnavailable;
      if (!isAway || performance.now() + pauseMs > giveUpAt) throw error;
    }
    await setTimeout(pauseMs, undefined, { signal });
  }
}
