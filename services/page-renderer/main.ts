import { systemClock } from '#shared/clock/clock.ts';
import { randomBase62 } from '#shared/identifiers/base62.ts';
import { crashPoint } from '#shared/lifecycle/crash-point.ts';
import { startHealthServer } from '#shared/lifecycle/health-server.ts';
import type { Running } from '#shared/lifecycle/running.ts';
import { connectBus } from '#shared/nats/connect-bus.ts';
import { objectStoreFromConfig } from '#shared/object-store/object-store-from-config.ts';
import { openObjectStore } from '#shared/object-store/open-object-store.ts';
import { rendererVersion } from '#shared/render/renderer-version.ts';
import { childPool } from '#shared/sandbox/child-pool.ts';
import { workSlots } from '#shared/task-queue/work-slots.ts';
import { createLogger } from '#shared/telemetry/logger.ts';
import type { PageRendererConfig } from './config.ts';
import type { RendererContext } from './context.ts';
import { plannedSites } from './planned-sites.ts';
import { projectTexts } from './project-texts.ts';
import { workOnTask } from './work-on-task.ts';

const service = 'page-renderer';
const entry = new URL('../../shared/render/render-child.ts', import.meta.url);
/** Tasks in hand get so long to end when the service stops; another renderer takes what is left. */
const graceMs = 5_000;
const giveUpAfterMs = 120_000;

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
    giveUpAfterMs,
  };
  let draining = false;
  const workers = workSlots({
    service,
    instance,
    rendererVersion: version,
    slots: config.slots,
    reader: await bus.readers.renderTasks(version),
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
