import { setTimeout } from 'node:timers/promises';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { type Running, startHealthServer } from '#shared/runtime/health-server.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { objectStoreFromConfig, openObjectStore } from '#shared/storage/open-object-store.ts';
import type { HousekeeperConfig } from './config.ts';
import type { HousekeeperContext } from './context.ts';
import { askPublisher } from './end-contents.ts';
import { choresOf, keepHouse } from './keep-house.ts';
import { jobSourcesOf } from './kept-jobs.ts';

const service = 'housekeeper';
const hourMs = 3_600_000;

/** Removes what nobody needs any more, while it has the lease; until then it waits for it as a spare. */
export async function start(config: HousekeeperConfig): Promise<Running> {
  const instance = `${service}-${randomBase62(8)}`;
  const logger = createLogger(service, instance);
  const bus = await connectBus({ service, instance, url: config.natsUrl, password: config.natsPassword, log: logger });
  const objectStore = await openObjectStore(objectStoreFromConfig(config));
  const context: HousekeeperContext = {
    bus,
    objectStore,
    clock: systemClock,
    logger,
    jobSources: jobSourcesOf(bus, objectStore),
    endContent: askPublisher({
      baseUrl: config.publisherUrl,
      serviceToken: config.serviceToken,
      random: randomBase62,
    }),
    sweepUploadsAfterMs: config.sweepUploadsHours * hourMs,
    archiveAfterMs: config.archiveAfterDays * 24 * hourMs,
    keepObjectsMs: config.keepObjectsDays * 24 * hourMs,
    dryRun: false,
  };
  const stop = new AbortController();
  const keeping = keepHouse(
    {
      leases: bus.leases,
      instance,
      logger,
      chores: choresOf(context),
      everyMs: config.sweepEveryHours * hourMs,
      random: Math.random,
      wait: (ms, signal) => setTimeout(ms, undefined, { signal }),
    },
    stop.signal,
  );
  const health = await startHealthServer({
    service,
    host: config.host,
    port: config.port,
    logger,
    checks: { bus: () => bus.check(), 'object-store': () => objectStore.check() },
    draining: () => stop.signal.aborted,
  });
  return {
    name: service,
    url: health.url,
    async stop() {
      stop.abort();
      await keeping;
      await Promise.all([health.close(), objectStore.close()]);
      await bus.close();
    },
  };
}
