import { limitListSchema } from '#shared/interfaces/http/audit.ts';
import type { RateLimit } from '#shared/http/rate-limit.ts';
import { tokenBudgetOf } from '../discovery/token-budget.ts';
import { type PublicRoute, publicRoute } from '../public-route.ts';
import { limitFor } from '../rate-limits.ts';

/** Returns the limits of an organization with their rest in this window. Each limit of `routes` that all callers of an organization share is listed once. */
export const limitsRoute = (routes: () => readonly PublicRoute[]): PublicRoute =>
  publicRoute(
    {
      id: 'readLimits',
      method: 'GET',
      path: '/v1/limits',
      summary: 'Returns the limits of the organization by its plan, with the rest of each in its window.',
      key: 'admin',
      answer: limitListSchema,
    },
    async ({ config, rateLimiter, clock }, { principal: { organization, organizationPlan } }) => {
      const counted = new Map<string, { limit: RateLimit; key: string }>();
      for (const { declaration } of routes()) {
        if (declaration.key !== 'admin' && declaration.key !== 'assistant') continue;
        for (const each of declaration.limits ?? [])
          if (each.per === 'organization')
            counted.set(each.name, { limit: limitFor(config, each, organizationPlan), key: organization });
      }
      const budget = tokenBudgetOf(config, organization, organizationPlan, clock.now());
      if (budget !== undefined) counted.set(budget.limit.name, budget);
      const limits = await Promise.all(
        [...counted.values()].map(async ({ limit, key }) => {
          const { remaining } = await rateLimiter.spend(limit, key, 0);
          return { ...limit, remaining };
        }),
      );
      return {
        plan: organizationPlan,
        activeExports: config.activeJobs[organizationPlan],
        limits: limits.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
      };
    },
  );
