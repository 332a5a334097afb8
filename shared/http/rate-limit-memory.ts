import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimit, RateLimiter, RateLimitOutcome } from './rate-limit.ts';

/** Counts in this process alone: for an installation with one gateway. */
export function memoryRateLimiter(): RateLimiter {
  const limiters = new Map<string, RateLimiterMemory>();

  function limiterOf(limit: RateLimit): RateLimiterMemory {
    const id = `${limit.name}:${limit.requests}:${limit.windowSeconds}`;
    const known = limiters.get(id);
    if (known !== undefined) return known;
    const limiter = new RateLimiterMemory({ keyPrefix: id, points: limit.requests, duration: limit.windowSeconds });
    limiters.set(id, limiter);
    return limiter;
  }

  return {
    take: async (limit, key) => {
      try {
        return outcome(true, await limiterOf(limit).consume(key));
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return outcome(false, refusal);
        throw refusal;
      }
    },
    close: async () => limiters.clear(),
  };
}

function outcome(allowed: boolean, result: RateLimiterRes): RateLimitOutcome {
  return {
    allowed,
    remaining: Math.max(0, result.remainingPoints),
    resetSeconds: Math.max(1, Math.ceil(result.msBeforeNext / 1000)),
  };
}
