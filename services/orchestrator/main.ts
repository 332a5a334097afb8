import { systemClock } from '#shared/clock/clock.ts';
import { randomBase62 } from '#shared/identifiers/base62.ts';
import { withArchive } from '#shared/export-archive/with-archive.ts';
import { startHealthServer } from '#shared/lifecycle/health-server.ts';
import type { Running } from '#shared/lifecycle/running.ts';
import { connectBus } from '#shared/nats/connect-bus.ts';
import { objectStoreFromConfig } from '#shared/object-store/object-store-from-config.ts';
import { openObjectStore } from '#shared/object-store/open-object-store.ts';
import { rendererVersion } from '#shared/render/renderer-version.ts';
import { createLogger } from '#shared/telemetry/logger.ts';
import type { OrchestratorConfig } from './config.ts';
import type { OrchestratorContext } from './context.ts';
import { leadByTurns } from './lead-by-turns.ts';
import { workerPool } from './worker-pool.ts';

const service = 'orchestrator';

/** Decides on exports while it has the lease; until then it waits for it as a spare. */
export async function start(config: OrchestratorConfig): Promise<Running> {
  const instance = `${service}-${randomBase62(8)}`;
  const logger = createLogger(service, instance);
  const connected = await connectBus({
    service,
    instance,
    url: config.natsUrl,
    password: config.natsPassword,
    log: logger,
  });
  const objectStore = await openObjectStore(objectStoreFromConfig(config));
  const bus = { ...connected, exports: withArchive(connected.exports, objectStore) };
  const context: OrchestratorContext = {
    bus,
    objectStore,
    clock: systemClock,
    logger,
    random: randomBase62,
    instance,
    rendererVersion: await rendererVersion(),
    renderers: workerPool(systemClock),
    bundlers: workerPool(systemClock),
    taskLostAfterMs: config.taskLostAfterSeconds * 1000,
    exportDeadlineMs: config.exportDeadlineMinutes * 60_000,
  };
  // A spare knows the workers, too, so that it can hand out at once when it leads.
  const unwatch = [
    bus.presence.watch('page-renderer', (report) => context.renderers.heard(report)),
    bus.presence.watch('bundler', (report) => context.bundlers.heard(report)),
  ];
  const stop = new AbortController();
  const leading = leadByTurns(context, stop.signal);
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
      await leading;
      for (const end of unwatch) end();
      await Promise.all([health.close(), objectStore.close()]);
      await bus.close();
    },
  };
}
