import { randomBytes } from 'node:crypto';
import { systemClock } from '#shared/clock/clock.ts';
import { randomBase62 } from '#shared/identifiers/base62.ts';
import { withArchive } from '#shared/export-archive/with-archive.ts';
import { closeServer } from '#shared/lifecycle/close-server.ts';
import type { Running } from '#shared/lifecycle/running.ts';
import { connectBus } from '#shared/nats/connect-bus.ts';
import { objectStoreFromConfig } from '#shared/object-store/object-store-from-config.ts';
import { openObjectStore } from '#shared/object-store/open-object-store.ts';
import { memoryRateLimiter } from '#shared/rate-limit/memory-rate-limiter.ts';
import { createLogger } from '#shared/telemetry/logger.ts';
import { buildGateway } from './build-gateway.ts';
import type { GatewayConfig } from './config.ts';
import { jobStatusFeed } from './job-status-feed.ts';
import { keyDirectory } from './key-directory.ts';

/** The public door. */
export async function start(config: GatewayConfig): Promise<Running> {
  const service = 'gateway';
  const instance = `${service}-${randomBytes(4).toString('hex')}`;
  const logger = createLogger(service, instance);
  const connected = await connectBus({
    url: config.natsUrl,
    service,
    password: config.natsPassword,
    instance,
    log: logger,
  });
  const objectStore = await openObjectStore(objectStoreFromConfig(config));
  const bus = { ...connected, exports: withArchive(connected.exports, objectStore) };
  const rateLimiter = memoryRateLimiter();
  const stop = new AbortController();
  const feed = jobStatusFeed(bus.liveUpdates, logger);
  const app = await buildGateway({
    config,
    bus,
    objectStore,
    rateLimiter,
    clock: systemClock,
    random: randomBase62,
    logger,
    keys: keyDirectory(bus.documents.directoryKeys, systemClock, logger, stop.signal),
    jobStatusFeed: feed,
    stopping: stop.signal,
  });
  const url = await app.listen({ host: config.host, port: config.port });
  return {
    name: service,
    url,
    stop: async () => {
      stop.abort();
      await closeServer(app);
      feed.close();
      await rateLimiter.close();
      await objectStore.close();
      await bus.close();
    },
  };
}
