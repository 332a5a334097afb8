import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeRetry } from '#shared/messaging/queue/task-queue.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { type ObjectStore, ObjectStoreUnavailable } from '#shared/storage/object-store.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { type ExportHarness, startExportHarness } from '../../test/support/export-harness.ts';
import { workOnTask } from './work-on-task.ts';

describeWithServers(['nats-server'], 'a bundle', () => {
  let harness: ExportHarness;
  beforeAll(async () => {
    harness = await startExportHarness();
    await Promise.all([harness.start('orchestrator'), harness.start('page-renderer')]);
  });
  afterAll(() => harness?.stop());

  test('is joined with a store that refuses one read of five', async () => {
    const bundler = await harness.bus.connect('bundler');
    const { objectStore } = harness;
    let reads = 0;
    const refusing: ObjectStore = {
      ...objectStore,
      async get(key, options) {
        reads += 1;
        if (reads % 5 === 0) throw new ObjectStoreUnavailable('slow down');
        return objectStore.get(key, options);
      },
    };
    const context = {
      ...{ objectStore: refusing, facts: bundler.facts, clock: systemClock, random: randomBase62 },
      ...{ logger: pino({ level: 'silent' }), instance: 'bundler-test' },
      retry: { firstPauseMs: 1, longestPauseMs: 1, giveUpAfterMs: 5_000 },
    };
    const tasks = await bundler.bundleTasks();
    const stop = new AbortController();
    const bundling = (async () => {
      while (!stop.signal.aborted) {
        const delivery = await tasks.next({ signal: stop.signal });
        if (delivery?.value === undefined) continue;
        await workOnTask(context, delivery.value, delivery.deliveryCount, stop.signal);
        await delivery.ack();
      }
    })();
    const jobId = await harness.request(
      await harness.publish(Array.from({ length: 64 }, (_, at) => ({ path: `p${at}` }))),
    );
    const { state } = (await harness.until(jobId, ({ data }) => data.state.completedAt !== undefined)).data;
    stop.abort();
    await bundling;
    await bundler.close();
    expect(state).toMatchObject({ phase: 'completed' });
    expect(reads).toBeLessThan(40);
  });

  test('that kills every bundler ends its job with the reason, after three bundlers in each of three attempts', async () => {
    const bundler = await harness.bus.connect('bundler');
    const tasks = await bundler.bundleTasks();
    const context = {
      ...{ objectStore: harness.objectStore, facts: bundler.facts, clock: systemClock, random: randomBase62 },
      ...{ logger: pino({ level: 'silent' }), instance: 'bundler-test', retry: storeRetry },
    };
    const stop = new AbortController();
    let killed = 0;
    const bundling = (async () => {
      while (!stop.signal.aborted) {
        const delivery = await tasks.next({ signal: stop.signal });
        if (delivery?.value === undefined) continue;
        const { value, deliveryCount } = delivery;
        if (deliveryCount <= 3) {
          // The bus redelivers the task to the next bundler, as it does when a process dies.
          killed += 1;
          delivery.nak();
          continue;
        }
        await workOnTask(context, value, deliveryCount, stop.signal);
        await delivery.ack();
      }
    })();
    const jobId = await harness.request(await harness.publish([{ path: 'a' }]));
    const { state } = (await harness.until(jobId, ({ data }) => data.state.completedAt !== undefined)).data;
    stop.abort();
    await bundling;
    expect(state).toMatchObject({
      phase: 'failed',
      error: 'The bundle could not be joined in 3 attempts: the processes that worked on it died 3 times.',
    });
    expect(killed).toBe(9);
  });
});
