import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimit, RateLimiter, RateLimitOutcome } from './rate-limit.ts';

/**
 * Maximum number of keys that one limit counts. A client may have a million IPv6 addresses, and each count takes half a kilobyte during its window,
 * up to a day.
 */
export const mostCounted = 100_000;

/**
 * Counts in this process only: for an installation with one gateway, and while the shared counts are down. A limit with `mostCounted` keys evicts the
 * least recently used one for each further key.
 */
export function memoryRateLimiter(): RateLimiter {
  const counterOf = counters(boundedCounter);
  return {
    take: async (limit, key) => outcomeOf(limit, await counterOf(limit).penalty(key)),
    spend: async (limit, key, amount) => leftAfter(limit, await counterOf(limit).penalty(key, amount)),
    problem: () => undefined,
    close: async () => {},
  };
}

function boundedCounter(keyPrefix: string, duration: number): Pick<RateLimiterMemory, 'penalty'> {
  const counter = new RateLimiterMemory({ keyPrefix, points: 1, duration });
  /** Sorted by last use, the most recent at the end. */
  const counted = new Set<string>();
  /** The iterator is kept, because a new one would skip over all deleted entries. */
  const oldestFirst = counted.values();
  return {
    async penalty(key: string, points?: number) {
      counted.delete(key);
      counted.add(key);
      if (counted.size > mostCounted) {
        const { value: first = '' } = oldestFirst.next();
        counted.delete(first);
        await counter.delete(first);
      }
      return await counter.penalty(key, points);
    },
  };
}

/**
 * One counter of the library for each name and window of a limit, made when it is first needed. The number of allowed requests is checked outside of
 * it (`outcomeOf`), because it differs between plans, and a count outlives a change of plan.
 */
export function counters<C>(make: (name: string, windowSeconds: number) => C): (limit: RateLimit) => C {
  const known = new Map<string, C>();
  return ({ name, windowSeconds }) => {
    const id = `${name}:${windowSeconds}`;
    const counter = known.get(id) ?? make(id, windowSeconds);
    known.set(id, counter);
    return counter;
  };
}

/** The outcome for the request that was counted. Pure. */
export const outcomeOf = (
  { requests }: RateLimit,
  { consumedPoints, msBeforeNext }: RateLimiterRes,
): RateLimitOutcome => ({
  allowed: consumedPoints <= requests,
  remaining: Math.max(0, requests - consumedPoints),
  resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
});

/** The remainder of a limit after counting. Pure. */
export const leftAfter = (limit: RateLimit, count: RateLimiterRes): RateLimitOutcome => ({
  ...outcomeOf(limit, count),
  allowed: count.consumedPoints < limit.requests,
});
