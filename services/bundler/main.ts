import { systemClock } from '#shared/clock/clock.ts';
import { randomBase62 } from '#shared/identifiers/base62.ts';
import { crashPoint } from '#shared/lifecycle/crash-point.ts';
import { startHealthServer } from '#shared/lifecycle/health-server.ts';
import type { Running } from '#shared/lifecycle/running.ts';
import { connectBus } from '#shared/nats/connect-bus.ts';
import { objectStoreFromConfig } from '#shared/object-store/object-store-from-config.ts';
import { openObjectStore } from '#shared/object-store/open-object-store.ts';
import { workSlots } from '#shared/task-queue/work-slots.ts';
import { createLogger } from '#shared/telemetry/logger.ts';
import type { BundlerConfig } from './config.ts';
import type { BundlerContext } from './context.ts';
import { workOnTask } from './work-on-task.ts';

const service = 'bundler';
/** Tasks in hand get so long to end when the service stops; another bundler takes what is left. */
const graceMs = 5_000;
const giveUpAfterMs = 120_000;

/** Joins segments into bundles. */
export async function start(config: BundlerConfig): Promise<Running> {
  const instance = `${service}-${randomBase62(8)}`;
  const logger = createLogger(service, instance);
  const bus = await connectBus({ service, instance, url: config.natsUrl, password: config.natsPassword, log: logger });
  const objectStore = await openObjectStore(objectStoreFromConfig(config));
  const context: BundlerContext = {
    objectStore,
    facts: bus.facts,
    clock: systemClock,
    logger,
    random: randomBase62,
    instance,
    giveUpAfterMs,
  };
  let draining = false;
  const workers = workSlots({
    service,
    instance,
    slots: config.slots,
    reader: await bus.readers.bundleTasks(),
    work: (task, _deliveryCount, signal) => workOnTask(context, task, signal),
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
      await Promise.all([health.close(), objectStore.close()]);
      await bus.close();
    },
  };
}
