import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimit, RateLimiter, RateLimitOutcome } from './rate-limit.ts';

/** Counts in this process alone: for an installation with one gateway, and while the shared counts are away. */
export function memoryRateLimiter(): RateLimiter {
  const counterOf = counters((keyPrefix, duration) => new RateLimiterMemory({ keyPrefix, points: 1, duration }));
  return {
    take: async (limit, key) => outcomeOf(limit, await counterOf(limit).penalty(key)),
    spend: async (limit, key, amount) => leftAfter(limit, await counterOf(limit).penalty(key, amount)),
    problem: () => undefined,
    close: async () => {},
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
