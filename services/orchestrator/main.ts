import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { logWithArchive } from '#shared/export/archived-jobs.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { type Running, startHealthServer } from '#shared/runtime/health-server.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { objectStoreFromConfig, openObjectStore } from '#shared/storage/open-object-store.ts';
import type { OrchestratorConfig } from './config.ts';
import type { OrchestratorContext } from './context.ts';
import { leadByTurns } from './lead.ts';
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
  const bus = { ...connected, exports: logWithArchive(connected.exports, objectStore) };
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
