import { randomBytes } from 'node:crypto';
import { startHealthServer } from '#shared/lifecycle/health-server.ts';
import type { Running } from '#shared/lifecycle/running.ts';
import { connectBus } from '#shared/nats/connect-bus.ts';
import { createLogger } from '#shared/telemetry/logger.ts';
import type { ProjectorConfig } from './config.ts';
import { startProjections } from './start-projections.ts';

/** Folds the log into read models. */
export async function start(config: ProjectorConfig): Promise<Running> {
  const service = 'projector';
  const instance = `${service}-${randomBytes(4).toString('hex')}`;
  const logger = createLogger(service, instance);
  const bus = await connectBus({ url: config.natsUrl, service, password: config.natsPassword, instance, log: logger });
  const stop = new AbortController();
  const projections = startProjections(bus, instance, logger, stop.signal);
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
      await health.close();
      await bus.close();
    },
  };
}
