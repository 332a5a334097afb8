import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { workSlots } from '#shared/messaging/task-queue.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { type Running, startHealthServer } from '#shared/runtime/health-server.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { objectStoreFromConfig, openObjectStore } from '#shared/storage/open-object-store.ts';
import type { PageRendererConfig } from './config.ts';
import type { RendererContext } from './context.ts';
import { plannedSites, projectTexts } from './planned-sites.ts';
import { workOnTask } from './work-on-task.ts';
import type { RetryPolicy } from '#shared/runtime/retry.ts';

const service = 'page-renderer';
const entry = new URL('../../shared/docs/render/render-child.ts', import.meta.url);
/** Tasks in hand get so long to end when the service stops; another renderer takes what is left. */
const graceMs = 5_000;
/** Stores and the bus come back within this time, or the task does with another worker. */
const retry: RetryPolicy = { firstPauseMs: 100, longestPauseMs: 5_000, giveUpAfterMs: 120_000 };

/** A member of the pool that renders chunks of exports. */
export async function start(config: PageRendererConfig): Promise<Running> {
  const instance = `${service}-${randomBase62(8)}`;
  const logger = createLogger(service, instance);
  const version = await rendererVersion();
  const bus = await connectBus({
    service,
    instance,
    url: config.natsUrl,
    password: config.natsPassword,
    log: logger,
  });
  const objectStore = await openObjectStore(objectStoreFromConfig(config));
  const pool = childPool({ entry, slots: config.slots });
  const context: RendererContext = {
    objectStore,
    facts: bus.facts,
    pool,
    freshPool: (memoryLimitMb) =>
      childPool({
        entry,
        slots: 1,
        warmSpares: 0,
        requestsPerChild: 1,
        ...(memoryLimitMb === undefined ? {} : { memoryLimitMb }),
      }),
    sites: plannedSites(objectStore),
    texts: projectTexts(objectStore),
    clock: systemClock,
    logger,
    random: randomBase62,
    instance,
    pageDeadlineMs: config.pageDeadlineMs,
    retry,
  };
  let draining = false;
  const workers = workSlots({
    service,
    instance,
    rendererVersion: version,
    slots: config.slots,
    reader: await bus.renderTasks(version),
    work: (task, deliveryCount, signal) => workOnTask(context, task, deliveryCount, signal),
    beforeAck: () => crashPoint('before-ack', service),
    presence: bus.presence,
    deadLetters: bus.deadLetters,
    logger,
  });
  const health = await startHealthServer({
    service,
    host: config.host,
    port: config.port,
    logger,
    checks: { bus: () => bus.check(), 'object-store': () => objectStore.check() },
    draining: () => draining,
  });
  return {
    name: service,
    url: health.url,
    async stop() {
      draining = true;
      await workers.stop(graceMs);
      await pool.close();
      await Promise.all([health.close(), objectStore.close()]);
      await bus.close();
    },
  };
}
