import { randomBytes } from 'node:crypto';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { type Running, startHealthServer } from '#shared/runtime/health-server.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import { openSearchIndex } from '#shared/search/open-search-index.ts';
import { objectStoreFromConfig, openObjectStore } from '#shared/storage/open-object-store.ts';
import type { IndexerConfig } from './config.ts';
import { pageReaderEntry } from './index-content.ts';
import { readContentLog } from './read-content-log.ts';

/** Content that is being indexed gets so long to end when the service stops; after that another indexer does it again. */
const DRAIN_MS = 3_000;

/** Makes published content searchable. */
export async function start(config: IndexerConfig): Promise<Running> {
  const name = 'indexer';
  const instance = randomBytes(4).toString('hex');
  const logger = createLogger(name, instance);
  const bus = await connectBus({
    url: config.natsUrl,
    service: name,
    password: config.natsPassword,
    instance,
    log: logger,
  });
  const objects = await openObjectStore(objectStoreFromConfig(config));
  const searchIndex = await openSearchIndex(config);
  const slots = config.indexerSlots;
  const pool = childPool({ entry: pageReaderEntry, slots });
  const stop = new AbortController();
  const abandon = new AbortController();
  const health = await startHealthServer({
    service: name,
    host: config.host,
    port: config.port,
    logger,
    checks: { bus: () => bus.check(), search: () => searchIndex.check(), objects: () => objects.check() },
    draining: () => stop.signal.aborted,
  });
  const parts = { bus, objects, searchIndex, pool, slots, logger, clock: systemClock };
  const reading = readContentLog(parts, stop.signal, abandon.signal);
  return {
    name,
    url: health.url,
    async stop() {
      stop.abort();
      const timer = setTimeout(() => abandon.abort(new Error('The service stops.')), DRAIN_MS);
      await reading;
      clearTimeout(timer);
      await pool.close();
      await Promise.all([health.close(), searchIndex.close(), objects.close()]);
      await bus.close();
    },
  };
}
