import { randomBytes } from 'node:crypto';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { type Running, startHealthServer } from '#shared/runtime/health-server.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import { objectStoreFromConfig, openObjectStore } from '#shared/storage/open-object-store.ts';
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
