import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { projectPool } from '#shared/docs/project/analyze-project.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { closeServer, type Running } from '#shared/runtime/health-server.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import { objectStoreFromConfig, openObjectStore } from '#shared/storage/open-object-store.ts';
import type { PublisherConfig } from './config.ts';
import { prepareUploadFolder } from './project-files.ts';
import { publisherApp } from './publisher-app.ts';

/** Takes docs projects and stores them by content. */
export async function start(config: PublisherConfig): Promise<Running> {
  const service = 'publisher';
  const instance = `${service}-${randomBytes(4).toString('hex')}`;
  const logger = createLogger(service, instance);
  const uploadFolder = join(config.dataFolder, 'uploads');
  await prepareUploadFolder(uploadFolder, systemClock.now());
  const bus = await connectBus({ url: config.natsUrl, service, password: config.natsPassword, instance, log: logger });
  const objectStore = await openObjectStore(objectStoreFromConfig(config));
  const pool = projectPool({ slots: config.slots });
  let draining = false;
  const app = publisherApp(
    { bus, objectStore, pool, clock: systemClock, uploadFolder },
    {
      serviceToken: config.serviceToken,
      logger,
      checks: { bus: () => bus.check(), 'object store': () => objectStore.check() },
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
      await pool.close();
      await objectStore.close();
      await bus.close();
    },
  };
}
