import { isIPv6 } from 'node:net';

/**
 * Counts requests against limits. What an adapter guarantees: `take` never hangs (200 ms at most, else a local count decides) and never
 * rejects; a window starts with the first request of a key.
 */
export type RateLimiter = {
  take(limit: RateLimit, key: string): Promise<RateLimitOutcome>;
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

/** What counts as one address: an IPv4 address, or the /64 of an IPv6 address, which is what one connection is given. Pure. */
export function addressGroup(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [front = '', back = ''] = address.split('%')[0]?.split('::') ?? [];
  const head = front === '' ? [] : front.split(':');
  const tail = back === '' ? [] : back.split(':');
  const missing = Math.max(0, 8 - head.length - tail.length);
  const groups = address.includes('::') ? [...head, ...Array<string>(missing).fill('0'), ...tail] : head;
  return `${groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
