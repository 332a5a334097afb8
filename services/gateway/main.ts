import { logWithArchive } from '#shared/messaging/log/archived-jobs.ts';
import { openRateLimiter } from '#shared/http/open-rate-limiter.ts';
import { type Running, startService } from '#shared/service/start-service.ts';
import { keyDirectory } from './auth/key-directory.ts';
import { signedInPeople } from './auth/people.ts';
import { keyUses } from './auth/key-uses.ts';
import { buildGateway, publicRoutes } from './build-gateway.ts';
import { failingFast, watchBus } from './bus-outage.ts';
import type { GatewayConfig } from './config.ts';
import type { GatewayContext } from './context.ts';
import { gatewayHealth } from './gateway-health.ts';
import { cachedOrganizations } from './directory/organizations.ts';
import { agentCounts } from './discovery/agent-counts.ts';
import { siteOutlines } from './discovery/site-outlines.ts';
import { jobStatusFeed } from './exports/job-status-feed.ts';
import { sitePages } from './exports/site-pages.ts';
import { siteReaders } from './sites/site-readers.ts';
import { sitesFeed } from './sites/sites-feed.ts';
import { liveGateways } from './live-gateways.ts';
import { measuredLimits } from './rate-limits.ts';

export { gatewaySettings as settings } from './config.ts';

/** Answers all public requests. `routes`: benchmarks add one of their own. */
export function start(config: GatewayConfig, routes = publicRoutes): Promise<Running> {
  return startService('gateway', config, async (service) => {
    const { objectStore, clock, logger, stopping } = service;
    const busOutage = watchBus(service.bus, logger, stopping);
    const asked = failingFast(service.bus, busOutage);
    const bus = { ...asked, exports: logWithArchive(asked.exports, objectStore) };
    const gateways = liveGateways(bus.presence, service.instance, clock);
    const { metrics } = service;
    const limiter = await openRateLimiter(config, { copies: () => gateways.count(), logger });
    const rateLimiter = measuredLimits(limiter, metrics, routes);
    const feed = jobStatusFeed(bus.liveUpdates, logger);
    const keys = keyDirectory(bus.readModels.directoryKeys, clock, logger, stopping);
    const uses = keyUses(bus.keyUses, clock, logger);
    metrics.gauge('bindery_gateways_live', 'Gateways that share the limits, this one included.', () =>
      gateways.count(),
    );
    const agents = agentCounts(bus, clock, logger);
    const sites = sitesFeed(bus.readModels.sites, config.sitesBase, logger, stopping);
    const organizations = cachedOrganizations(bus.readModels.directoryOrganizations);
    const context: GatewayContext = {
      ...service,
      config,
      bus,
      busOutage,
      rateLimiter,
      keys,
      keyUses: uses,
      liveGateways: () => gateways.count(),
      jobStatusFeed: feed,
      sitePages: sitePages(objectStore),
      siteOutlines: siteOutlines(objectStore),
      agentCounts: agents,
      sitesBase: config.sitesBase,
      sitesFeed: sites,
      siteReaders: siteReaders(organizations, sites),
      organizations,
      people: signedInPeople(config.personTokenKey, organizations, clock),
    };
    return {
      app: await buildGateway(context, routes),
      lingerMs: config.lingerSeconds * 1_000,
      inside: { at: { host: config.insideHost, port: config.insidePort }, health: gatewayHealth(context) },
      async drain() {
        gateways.stop();
      },
      async close() {
        feed.close();
        await Promise.all([uses.close(), agents.close()]);
        await rateLimiter.close();
      },
    };
  });
}
