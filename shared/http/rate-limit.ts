import { addressRange, isIpv4, withoutPort } from './address-ranges.ts';

/**
 * Counts requests against limits. Guarantees of every adapter: `take` never hangs (200 ms at most, otherwise a local count decides) and never
 * rejects. It allows exactly as many requests as the limit says, however many arrive at once. A window starts with the first request of a key; if the
 * limit's number changes within it, the count continues.
 */
export type RateLimiter = {
  take(limit: RateLimit, key: string): Promise<RateLimitOutcome>;
  /**
   * Counts `amount` at once, for a cost that is known only afterwards; 0 only reads the count. It is counted even beyond the limit: `allowed` is true
   * if something is left.
   */
  spend(limit: RateLimit, key: string, amount: number): Promise<RateLimitOutcome>;
  /** Reason why counts are currently not shared, as a sentence for operators; undefined if they are, or are not meant to be. */
  problem(): string | undefined;
  close(): Promise<void>;
};

/** At most `requests` in `windowSeconds`. `name` identifies the limit, in headers and in keys. */
export type RateLimit = { name: string; requests: number; windowSeconds: number };

export type RateLimitOutcome = {
  allowed: boolean;
  remaining: number;
  /** Seconds until the window ends. */
  resetSeconds: number;
};

export type CountedLimit = { limit: RateLimit; outcome: RateLimitOutcome };

/** `RateLimit` and `RateLimit-Policy` by draft-ietf-httpapi-ratelimit-headers, and `Retry-After` if a limit refused. Pure. */
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
 * The key under which an address counts, in any notation: an IPv4 address, or the /64 of an IPv6 address, which is the prefix that one connection is
 * assigned. Pure.
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
