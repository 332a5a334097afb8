import { logWithArchive } from '#shared/export/archived-jobs.ts';
import { openRateLimiter } from '#shared/http/open-rate-limiter.ts';
import { type Running, startService } from '#shared/runtime/start-service.ts';
import { keyDirectory } from './auth/key-directory.ts';
import { buildGateway } from './build-gateway.ts';
import { failingFast, watchBus } from './bus-outage.ts';
import type { GatewayConfig } from './config.ts';
import { jobStatusFeed } from './exports/job-status-feed.ts';
import { sitePages } from './exports/site-pages.ts';
import { liveGateways } from './live-gateways.ts';

export { gatewaySettings as settings } from './config.ts';

/** Answers all public requests. */
export function start(config: GatewayConfig): Promise<Running> {
  return startService('gateway', config, async (service) => {
    const { objectStore, clock, logger, stopping } = service;
    const busOutage = watchBus(service.bus, logger, stopping);
    const asked = failingFast(service.bus, busOutage);
    const bus = { ...asked, exports: logWithArchive(asked.exports, objectStore) };
    const gateways = liveGateways(bus.presence, service.instance, clock);
    const rateLimiter = await openRateLimiter(config, { copies: () => gateways.count(), logger });
    const feed = jobStatusFeed(bus.liveUpdates, logger);
    const keys = keyDirectory(bus.readModels.directoryKeys, clock, logger, stopping);
    const app = await buildGateway({
      ...service,
      config,
      bus,
      busOutage,
      rateLimiter,
      keys,
      jobStatusFeed: feed,
      sitePages: sitePages(objectStore),
    });
    return {
      app,
      async drain() {
        gateways.stop();
      },
      async close() {
        feed.close();
        await rateLimiter.close();
      },
    };
  });
}
