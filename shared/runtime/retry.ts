import pRetry from 'p-retry';
import { Unavailable } from './failures.ts';

/** Exponential backoff: the pauses double from `firstPauseMs` up to `longestPauseMs`. */
export type RetryPolicy = {
  firstPauseMs: number;
  longestPauseMs: number;
  /** Time after the first try from which no further try starts. If absent, only the signal ends the tries. */
  giveUpAfterMs?: number;
};

/** Policy for work that must be done, however long a system is unavailable. */
export const everySecond: RetryPolicy = { firstPauseMs: 1_000, longestPauseMs: 1_000 };

/** The pause after a number of failed tries, in milliseconds. Pure. */
export function pauseAfter(failedTries: number, { firstPauseMs, longestPauseMs }: RetryPolicy): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failedTries - 1, 32));
}

/** Retries a call while it fails with `Unavailable`. Rejects with any other failure, with the last one, or with the signal's reason. */
export function retryUnavailable<T>(
  { firstPauseMs, longestPauseMs, giveUpAfterMs = Infinity }: RetryPolicy,
  signal: AbortSignal | undefined,
  call: () => Promise<T>,
  onRetry: (error: Error) => void = () => {},
): Promise<T> {
  return pRetry(call, {
    retries: Infinity,
    minTimeout: firstPauseMs,
    maxTimeout: longestPauseMs,
    maxRetryTime: giveUpAfterMs,
    ...(signal && { signal }),
    shouldRetry: ({ error }) => error instanceof Unavailable,
    // The callback runs for every error, also for one that `shouldRetry` refuses afterwards.
    onFailedAttempt: ({ error, retryDelay }) =>
      error instanceof Unavailable && retryDelay > 0 ? onRetry(error) : undefined,
  });
}
