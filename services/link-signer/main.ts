import { randomBytes } from 'node:crypto';
import { logWithArchive } from '#shared/export/archived-jobs.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { closeServer, type Running } from '#shared/runtime/health-server.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import { objectStoreFromConfig, openObjectStore } from '#shared/storage/open-object-store.ts';
import type { LinkSignerConfig } from './config.ts';
import { checkClockSkew, linkSignerApp } from './sign-link.ts';

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
  const bus = { ...connected, exports: logWithArchive(connected.exports, objectStore) };
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
