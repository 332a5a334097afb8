import type { FastifyReply } from 'fastify';
import { ApiError } from '#shared/http/errors.ts';
import { type CountedLimit, type RateLimit, rateLimitHeaders } from '#shared/http/rate-limit.ts';
import type { GatewayContext } from './context.ts';

export type LimitedKey = { limit: RateLimit; key: string };

/** Counts a request against its limits and says so in the answer's headers. Throws `rate_limited`. */
export async function countRequest(
  context: GatewayContext,
  reply: FastifyReply,
  limits: readonly LimitedKey[],
): Promise<void> {
  const counted: CountedLimit[] = await Promise.all(
    limits.map(async ({ limit, key }) => ({ limit, outcome: await context.rateLimiter.take(limit, key) })),
  );
  reply.headers(rateLimitHeaders(counted));
  const refused = counted.find(({ outcome }) => !outcome.allowed);
  if (refused === undefined) return;
  const { limit, outcome } = refused;
  throw new ApiError(
    'rate_limited',
    `More than ${limit.requests} requests in ${windowText(limit.windowSeconds)} (${limit.name}). Try again in ${outcome.resetSeconds} seconds.`,
    {
      retryAfterSeconds: Math.max(
        ...counted.filter((each) => !each.outcome.allowed).map((each) => each.outcome.resetSeconds),
      ),
    },
  );
}

export const hourSeconds = 3_600;
export const daySeconds = 86_400;

const windowText = (seconds: number) =>
  seconds === daySeconds ? 'a day' : seconds === hourSeconds ? 'an hour' : `${seconds} seconds`;
