import type { Health } from '#shared/runtime/health-routes.ts';
import type { GatewayContext } from './context.ts';

/** Dependencies and metrics for the gateway's health. */
export function gatewayHealth({ bus, objectStore, rateLimiter, draining, metrics }: GatewayContext): Health {
  return {
    checks: { bus: () => bus.check() },
    // Questions, searches and lists work without the object store.
    partChecks: { 'object store': () => objectStore.check() },
    draining,
    degraded: () => {
      const problem = rateLimiter.problem();
      return problem === undefined ? {} : { 'rate limits': problem };
    },
    metrics,
  };
}
