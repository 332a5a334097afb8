import { housekeeperApp } from '#services/housekeeper/housekeeper-app.ts';
import { dryRound } from '#services/housekeeper/preview-sweep.ts';
import { type SweepPreviews, sweepPreviews } from '#services/housekeeper/sweep-previews.ts';
import { orchestratorApp } from '#services/orchestrator/orchestrator-app.ts';
import { type WorkerPool, workerPool } from '#services/orchestrator/worker-pool.ts';
import { type Consumer, openDeadLetterQueue, settleLetters } from '#shared/messaging/queue/dead-letters.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { everySecond } from '#shared/runtime/retry.ts';
import { dayMs, randomBase62 } from '#shared/runtime/time-and-ids.ts';
import type { MemoryBus } from './memory-bus.ts';
import { type ServiceParts, serviceToken } from './gateway-harness.ts';
import { testLogger } from './test-logger.ts';

export type InstallationServices = {
  env: Record<string, string>;
  renderers: WorkerPool;
  bundlers: WorkerPool;
  close(): Promise<void>;
};

/** The servers of an orchestrator and a housekeeper, on sockets, with the bus and object store of a gateway harness. */
export async function installationServices(
  { bus, objectStore, clock, logger }: ServiceParts,
  changes: { previews?: SweepPreviews } = {},
): Promise<InstallationServices> {
  const stop = new AbortController();
  const [renderers, bundlers] = [workerPool(clock), workerPool(clock)];
  const options = {
    callerTokens: { gateway: serviceToken },
    logger,
    checks: {},
    draining: () => false,
    metrics: serviceMetrics('test'),
  };
  const orchestrator = orchestratorApp({ bus, renderers, bundlers }, options);
  const keepObjectsMs = 90 * dayMs;
  const previews = sweepPreviews(
    (signal) => dryRound({ bus, objectStore, clock, keepObjectsMs }, signal),
    clock,
    stop.signal,
  );
  const letters = { letters: bus.deadLetters, logs: bus.storedMessages };
  const housekeeper = housekeeperApp({ letters, previews, clock, random: randomBase62, ...changes }, options);
  return {
    env: {
      BINDERY_ORCHESTRATOR_URL: await orchestrator.listen({ host: '127.0.0.1', port: 0 }),
      BINDERY_TOKEN_GATEWAY_TO_ORCHESTRATOR: serviceToken,
      BINDERY_HOUSEKEEPER_URL: await housekeeper.listen({ host: '127.0.0.1', port: 0 }),
      BINDERY_TOKEN_GATEWAY_TO_HOUSEKEEPER: serviceToken,
    },
    renderers,
    bundlers,
    close: async () => {
      stop.abort();
      await Promise.all([orchestrator.close(), housekeeper.close(), previews.ended()]);
    },
  };
}

/** The deployer's reader of `EXPORTS`, which sets messages aside, and carries out decisions with `again` until it is stopped. */
export function letterReader(bus: MemoryBus, again: () => Promise<void>) {
  const stop = new AbortController();
  const consumer: Consumer = {
    ...{ service: 'deployer', stream: 'EXPORTS', isOrdered: true, logger: testLogger, retry: everySecond },
    ...{ deadLetters: bus.deadLetters, deadLetterLog: bus.deadLetterLog },
  };
  const queue = openDeadLetterQueue(consumer, stop.signal);
  const settling = settleLetters(queue, again, stop.signal);
  return {
    setAside: (subject: string, sequence: number, reason: Error) => queue.put({ subject, sequence }, reason),
    stop: () => (stop.abort(), settling),
  };
}
