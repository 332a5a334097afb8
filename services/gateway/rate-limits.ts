import type { FastifyReply } from 'fastify';
import { ApiError } from '#shared/http/errors.ts';
import {
  addressGroup,
  type CountedLimit,
  type RateLimit,
  type RateLimiter,
  rateLimitHeaders,
} from '#shared/http/rate-limit.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { Principal } from './auth/authenticate.ts';
import type { GatewayConfig } from './config.ts';
import type { GatewayContext } from './context.ts';

/**
 * A limit in the declaration of a route: the number of requests for one organization, one address or one key in a time window. The operator counts as
 * one organization.
 */
export type RouteLimit = {
  /** Name in headers and keys. Routes with the same name share their count. */
  name: string;
  per: 'organization' | 'address' | 'key';
  /** A number, or the setting with the number (by plan, for an organization). */
  requests: number | LimitSetting;
  windowSeconds: number;
};

/** Settings that limit requests in a time window. Their names contain `Per`, as in `linksPerHour`. */
type LimitSetting = { [K in keyof GatewayConfig]: K extends `${string}Per${string}` ? K : never }[keyof GatewayConfig];

const hourSeconds = 3_600;
const daySeconds = 86_400;

/** This limit belongs to no route, because the tokens of an answer are known only at its end (`discovery/token-budget.ts`). */
export const tokenBudgetName = 'tokens';

export const perHour = (name: string, requests: RouteLimit['requests']): RouteLimit => ({
  name,
  per: 'organization',
  requests,
  windowSeconds: hourSeconds,
});

/** A limit for each key, so that one key cannot use up the share of others: nobody can keep a key from being revoked. */
export const perKeyPerHour = (name: string, requests: RouteLimit['requests']): RouteLimit => ({
  ...perHour(name, requests),
  per: 'key',
});

/** Limit of changes: each costs little, but stays in a log. */
export const changes = perHour('changes', 'changesPerHour');

export const perAddressPerDay = (name: string, requests: RouteLimit['requests']): RouteLimit => ({
  name,
  per: 'address',
  requests,
  windowSeconds: daySeconds,
});

/** A limit with its number for a plan. Pure. */
export function limitFor(
  config: GatewayContext['config'],
  { name, requests, windowSeconds }: RouteLimit,
  plan: Principal['organizationPlan'],
): RateLimit {
  const setting = typeof requests === 'number' ? requests : config[requests];
  return { name, requests: typeof setting === 'number' ? setting : setting[plan], windowSeconds };
}

/** Order of limits. A request that its caller's own limit refuses is not counted against the organization's. */
const narrowestFirst: readonly RouteLimit['per'][] = ['address', 'key', 'organization'];

/** The caller that a request counts for. `isShared`: the limits of its address are the same for all organizations. */
type Counted = { principal: Principal | undefined; address: string; isShared?: boolean };

/**
 * Counts a request against limits, the narrowest first and none after a refusal, and reports them in the answer's headers. `times`: number of requests that
 * it stands for; they are counted even beyond the limit if one was left. Throws `rate_limited`.
 */
export async function takeRateLimits(
  { config, rateLimiter }: Pick<GatewayContext, 'config' | 'rateLimiter'>,
  reply: FastifyReply,
  limits: readonly RouteLimit[],
  from: Counted,
  times = 1,
): Promise<void> {
  const { organization = '', organizationPlan = 'free', key: apiKey } = from.principal ?? {};
  const keys = {
    organization: () => organization,
    // A reader who asks on one site of an installation may still ask on the sites of others.
    address: () => (from.isShared === false ? `${organization}/` : '') + addressGroup(from.address),
    key: () => `${organization}/${apiKey?.id ?? ''}`,
  };
  const counted: CountedLimit[] = [];
  const inOrder = limits.toSorted((a, b) => narrowestFirst.indexOf(a.per) - narrowestFirst.indexOf(b.per));
  for (const each of inOrder) {
    const limit = limitFor(config, each, organizationPlan);
    const { name, requests: most, windowSeconds } = limit;
    const key = keys[each.per]();
    const first = await rateLimiter.take(limit, key);
    const outcome =
      first.allowed && times > 1 ? { ...(await rateLimiter.spend(limit, key, times - 1)), allowed: true } : first;
    counted.push({ limit, outcome });
    reply.headers(rateLimitHeaders(counted));
    if (outcome.allowed) continue;
    const window = windowSeconds === daySeconds ? 'a day' : 'an hour';
    throw new ApiError(
      'rate_limited',
      `More than ${most} requests in ${window} (${name}). Try again in ${outcome.resetSeconds} seconds.`,
      { retryAfterSeconds: outcome.resetSeconds },
    );
  }
}

/** A rate limiter with metrics for refusals by limit, and for counting without the other gateways. */
export function measuredLimits(
  rateLimiter: RateLimiter,
  metrics: Metrics,
  routes: readonly { declaration: { limits?: readonly RouteLimit[] } }[],
): RateLimiter {
  const names = new Set(routes.flatMap(({ declaration: { limits = [] } }) => limits.map(({ name }) => name)));
  const countRefused = metrics.counter('bindery_requests_limited_total', 'Requests that a limit refused.', 'limit', [
    ...names,
    tokenBudgetName,
  ]);

  metrics.gauge(
    'bindery_rate_limits_local',
    '1 while Redis is unavailable, so that this gateway counts requests alone, with its share of each limit.',
    () => Number(rateLimiter.problem() !== undefined),
  );
  return {
    ...rateLimiter,
    async take(limit, key) {
      const outcome = await rateLimiter.take(limit, key);
      if (!outcome.allowed) countRefused(limit.name);
      return outcome;
    },
    async spend(limit, key, amount) {
      const outcome = await rateLimiter.spend(limit, key, amount);
      if (amount === 0 && !outcome.allowed) countRefused(limit.name);
      return outcome;
    },
  };
}
