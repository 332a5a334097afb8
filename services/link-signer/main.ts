import { randomBytes } from 'node:crypto';
import { systemClock } from '#shared/clock/clock.ts';
import { withArchive } from '#shared/export-archive/with-archive.ts';
import { closeServer } from '#shared/lifecycle/close-server.ts';
import type { Running } from '#shared/lifecycle/running.ts';
import { connectBus } from '#shared/nats/connect-bus.ts';
import { objectStoreFromConfig } from '#shared/object-store/object-store-from-config.ts';
import { openObjectStore } from '#shared/object-store/open-object-store.ts';
import { createLogger } from '#shared/telemetry/logger.ts';
import { checkClockSkew } from './clock-skew-check.ts';
import type { LinkSignerConfig } from './config.ts';
import { linkSignerApp } from './link-signer-app.ts';

/** Signs time-limited links to bundles. */
export async function start(config: LinkSignerConfig): Promise<Running> {
  const service = 'link-signer';
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
  let draining = false;
  const app = linkSignerApp(
    { bus, objectStore, clock: systemClock, linkLifetimeSeconds: config.linkLifetimeSeconds },
    {
      serviceToken: config.serviceToken,
      logger,
      checks: {
        bus: () => bus.check(),
        'object store': () => objectStore.check(),
        clock: () => checkClockSkew(objectStore),
      },
      draining: () => draining,
    },
  );
  const url = await app.listen({ host: config.host, port: config.port });
  return {
    name: service,
    url,
    stop: async () => {
      draining = true;
      await closeServer(app);
      await objectStore.close();
      await bus.close();
    },
  };
}
