import { randomBytes } from 'node:crypto';
import { systemClock } from '#shared/clock/clock.ts';
import { startHealthServer } from '#shared/lifecycle/health-server.ts';
import type { Running } from '#shared/lifecycle/running.ts';
import { connectBus } from '#shared/nats/connect-bus.ts';
import { objectStoreFromConfig } from '#shared/object-store/object-store-from-config.ts';
import { openObjectStore } from '#shared/object-store/open-object-store.ts';
import { createLogger } from '#shared/telemetry/logger.ts';
import type { ProjectorConfig } from './config.ts';
import { startProjections } from './start-projections.ts';

/** Folds the log into read models. */
export async function start(config: ProjectorConfig): Promise<Running> {
  const service = 'projector';
  const instance = `${service}-${randomBytes(4).toString('hex')}`;
  const logger = createLogger(service, instance);
  const bus = await connectBus({ url: config.natsUrl, service, password: config.natsPassword, instance, log: logger });
  const objectStore = await openObjectStore(objectStoreFromConfig(config));
  const stop = new AbortController();
  const projections = startProjections(bus, instance, logger, stop.signal, systemClock, objectStore);
  const health = await startHealthServer({
    service,
    host: config.host,
    port: config.port,
    logger,
    checks: { bus: () => bus.check() },
    draining: () => stop.signal.aborted,
  });
  return {
    name: service,
    url: health.url,
    stop: async () => {
      stop.abort();
      await projections;
      await Promise.all([health.close(), objectStore.close()]);
      await bus.close();
    },
  };
}
