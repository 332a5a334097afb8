/**
 * Counts requests against limits. What an adapter owes: `take` never hangs (200 ms at most, else a local count decides) and never
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
