import type { FastifyReply } from 'fastify';
import { ApiError } from '#shared/http/errors.ts';
import { addressGroup, type CountedLimit, rateLimitHeaders } from '#shared/http/rate-limit.ts';
import type { Principal } from './auth/authenticate.ts';
import type { GatewayConfig } from './config.ts';
import type { GatewayContext } from './context.ts';

/**
 * A limit as a route declares it: how many requests one organization, one address or one key may make in a window of time. The operator
 * counts as one organization.
 */
export type RouteLimit = {
  /** In headers and keys. Routes with the same name share their count. */
  name: string;
  per: 'organization' | 'address' | 'key';
  /** A number, or the setting that has it (by plan, for an organization). */
  requests: number | LimitSetting;
  windowSeconds: number;
};

type LimitSetting = { [K in keyof GatewayConfig]: K extends `${string}Per${string}` ? K : never }[keyof GatewayConfig];

const hourSeconds = 3_600;
const daySeconds = 86_400;

export const perHour = (name: string, requests: RouteLimit['requests']): RouteLimit => ({
  name,
  per: 'organization',
  requests,
  windowSeconds: hourSeconds,
});

/** For what one key must not take from the others: so nobody can keep a key from being revoked. */
export const perKeyPerHour = (name: string, requests: RouteLimit['requests']): RouteLimit => ({
  ...perHour(name, requests),
  per: 'key',
});

/** Changes of what there is: cheap one by one, but each stays in a log. */
export const changes = perHour('changes', 'changesPerHour');

export const perAddressPerDay = (name: string, requests: RouteLimit['requests']): RouteLimit => ({
  name,
  per: 'address',
  requests,
  windowSeconds: daySeconds,
});

/** Counts a request against limits and says so in the answer's headers. Throws `rate_limited`. */
export async function takeRateLimits(
  { config, rateLimiter }: Pick<GatewayContext, 'config' | 'rateLimiter'>,
  reply: FastifyReply,
  limits: readonly RouteLimit[],
  from: { principal: Principal | undefined; address: string },
): Promise<void> {
  const counted: CountedLimit[] = await Promise.all(
    limits.map(async ({ name, per, requests, windowSeconds }) => {
      const { organization = '', organizationPlan = 'free', key } = from.principal ?? {};
      const setting = typeof requests === 'number' ? requests : config[requests];
      const limit = {
        name,
        requests: typeof setting === 'number' ? setting : setting[organizationPlan],
        windowSeconds,
      };
      const counted = { organization, address: addressGroup(from.address), key: `${organization}/${key?.id ?? ''}` };
      return { limit, outcome: await rateLimiter.take(limit, counted[per]) };
    }),
  );
  reply.headers(rateLimitHeaders(counted));
  const refused = counted.filter(({ outcome }) => !outcome.allowed);
  const first = refused[0];
  if (first === undefined) return;
  const { limit, outcome } = first;
  const window = limit.windowSeconds === daySeconds ? 'a day' : 'an hour';
  throw new ApiError(
    'rate_limited',
    `More than ${limit.requests} requests in ${window} (${limit.name}). Try again in ${outcome.resetSeconds} seconds.`,
    { retryAfterSeconds: Math.max(...refused.map((each) => each.outcome.resetSeconds)) },
  );
}
