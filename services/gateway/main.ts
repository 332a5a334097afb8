import { randomBytes } from 'node:crypto';
import { logWithArchive } from '#shared/export/archived-jobs.ts';
import { memoryRateLimiter } from '#shared/http/rate-limit-memory.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { closeServer, type Running } from '#shared/runtime/health-server.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { objectStoreFromConfig, openObjectStore } from '#shared/storage/open-object-store.ts';
import { keyDirectory } from './auth/key-directory.ts';
import { buildGateway } from './build-gateway.ts';
import type { GatewayConfig } from './config.ts';
import { jobStatusFeed } from './exports/job-status-feed.ts';

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
  const bus = { ...connected, exports: logWithArchive(connected.exports, objectStore) };
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
    keys: keyDirectory(bus.readModels.directoryKeys, systemClock, logger, stop.signal),
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
