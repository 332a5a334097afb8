import { LRUCache } from 'lru-cache';
import type { SegmentDigest } from '#shared/contracts/stored-objects.ts';
import { startWorker, storeRetry } from '#shared/messaging/queue/task-queue.ts';
import { type Running, startService } from '#shared/service/start-service.ts';
import type { BundlerConfig } from './config.ts';
import { workOnTask } from './work-on-task.ts';

export { bundlerSettings as settings } from './config.ts';

/** Size of the cache: a number of digests of segments and of their pieces, each with at most 500 bytes. */
const mostDigests = 40_000;

/** Joins segments into bundles. */
export function start(config: BundlerConfig): Promise<Running> {
  return startService('bundler', config, async (service) => {
    const known = new LRUCache<string, SegmentDigest>({
      maxSize: mostDigests,
      sizeCalculation: ({ pieces = [] }) => 1 + pieces.length,
    });
    const context = { ...service, facts: service.bus.facts, retry: storeRetry, known };
    const drain = startWorker(service, {
      reader: await service.bus.bundleTasks(),
      slots: config.slots,
      work: (task, deliveryCount, signal) => workOnTask(context, task, deliveryCount, signal),
    });
    return { drain };
  });
}
