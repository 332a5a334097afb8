import { addressRange, isIpv4, withoutPort } from './address-ranges.ts';

/**
 * Counts requests against limits. What an adapter guarantees: `take` never hangs (200 ms at most, else a local count decides) and never
 * rejects. Of any number of requests that come at once, exactly as many are allowed as the limit says. A window starts with the first request
 * of a key; when the limit's number changes within it, the count goes on.
 */
export type RateLimiter = {
  take(limit: RateLimit, key: string): Promise<RateLimitOutcome>;
  /**
   * Counts `amount` at once, of what is known only afterwards; 0 looks. It is counted also beyond the limit: `allowed` says whether anything
   * is left.
   */
  spend(limit: RateLimit, key: string, amount: number): Promise<RateLimitOutcome>;
  /** Why counts are not shared for now, as a sentence for operators; undefined when they are, or never were to be. */
  problem(): string | undefined;
  close(): Promise<void>;
};

/** At most `requests` in `windowSeconds`. `name` tells limits apart, in headers as well as in keys. */
export type RateLimit = { name: string; requests: number; windowSeconds: number };

export type RateLimitOutcome = {
  allowed: boolean;
  remaining: number;
  /** Seconds until the window is over. */
  resetSeconds: number;
};

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

/**
 * What counts as one address, however it is written: an IPv4 address, or the /64 of an IPv6 address, which is what one connection is given.
 * Pure.
 */
export function addressGroup(address: string): string {
  const [plain = ''] = withoutPort(address).split('%');
  const range = addressRange(plain);
  if (range === undefined) return address;
  const parts = (count: number, bits: bigint, number: bigint): bigint[] =>
    Array.from({ length: count }, (_, at) => (number >> (bits * BigInt(count - 1 - at))) & ((1n << bits) - 1n));
  if (isIpv4(range)) return parts(4, 8n, range.first).join('.');
  return `${parts(4, 16n, range.first >> 64n)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}
