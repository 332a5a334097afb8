import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { workSlots } from '#shared/messaging/task-queue.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { type Running, startHealthServer } from '#shared/runtime/health-server.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { objectStoreFromConfig, openObjectStore } from '#shared/storage/open-object-store.ts';
import type { BundlerConfig } from './config.ts';
import { type BundlerContext, workOnTask } from './work-on-task.ts';
import type { RetryPolicy } from '#shared/runtime/retry.ts';

const service = 'bundler';
/** Tasks in hand get so long to end when the service stops; another bundler takes what is left. */
const graceMs = 5_000;
/** Stores and the bus come back within this time, or the task does with another worker. */
const retry: RetryPolicy = { firstPauseMs: 100, longestPauseMs: 5_000, giveUpAfterMs: 120_000 };

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
    retry,
  };
  let draining = false;
  const workers = workSlots({
    service,
    instance,
    slots: config.slots,
    reader: await bus.bundleTasks(),
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
