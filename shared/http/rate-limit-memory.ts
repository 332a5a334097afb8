import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimit, RateLimiter, RateLimitOutcome } from './rate-limit.ts';

/**
 * How many keys one limit counts. Anybody may have a million addresses of IPv6, and a count takes half a kilobyte for as long as its window,
 * up to a day.
 */
export const mostCounted = 100_000;

/**
 * Counts in this process alone: for an installation with one gateway, and while the shared counts are away. A limit that counts
 * `mostCounted` keys forgets the one that asked longest ago for each further one.
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
  /** The one that asked last at the end. */
  const counted = new Set<string>();
  /** Goes on where it stopped: a new iterator would pass by all that was deleted. */
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
 * One counter of the library for each name and window of limits, made when it is first needed. How many requests are allowed is decided
 * beside it (`outcomeOf`): the numbers differ between plans, and a count outlives a change of them.
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

/** What a count means for the request that made it. Pure. */
export const outcomeOf = (
  { requests }: RateLimit,
  { consumedPoints, msBeforeNext }: RateLimiterRes,
): RateLimitOutcome => ({
  allowed: consumedPoints <= requests,
  remaining: Math.max(0, requests - consumedPoints),
  resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
});

/** What is left of a limit after something was counted. Pure. */
export const leftAfter = (limit: RateLimit, count: RateLimiterRes): RateLimitOutcome => ({
  ...outcomeOf(limit, count),
  allowed: count.consumedPoints < limit.requests,
});
