import type { RateLimit, RateLimitOutcome } from './rate-limiter.ts';

export type CountedLimit = { limit: RateLimit; outcome: RateLimitOutcome };

/**
 * `RateLimit` and `RateLimit-Policy` as draft-ietf-httpapi-ratelimit-headers has them, and `Retry-After` when a limit refused.
 * Pure.
 */
export function rateLimitHeaders(counted: readonly CountedLimit[]): Record<string, string> {
  if (counted.length === 0) return {};
  const refused = counted.filter(({ outcome }) => !outcome.allowed);
  return {
    'ratelimit-policy': counted
      .map(({ limit }) => `"${limit.name}";q=${limit.requests};w=${limit.windowSeconds}`)
      .join(', '),
    ratelimit: counted
      .map(({ limit, outcome }) => `"${limit.name}";r=${outcome.remaining};t=${outcome.resetSeconds}`)
      .join(', '),
    ...(refused.length === 0
      ? {}
      : { 'retry-after': String(Math.max(...refused.map(({ outcome }) => outcome.resetSeconds))) }),
  };
}
