import { afterAll, beforeAll, expect, test } from 'vitest';
import { segmentKey } from '#shared/contracts/stored-objects.ts';
import { readPlan } from '#shared/export/export-objects.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { type ExportHarness, organization, startExportHarness } from '../support/export-harness.ts';
import { startWorkersOn } from '../support/workers-on-store.ts';

/** Rejects when `signal` aborts, like an upload to a store that does not answer. */
const hang = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));

const withinMs = 60_000;

describeWithServers(['nats-server'], 'a worker whose export is cancelled while it works on the last steps', () => {
  let harness: ExportHarness;
  beforeAll(async () => {
    harness = await startExportHarness();
    await harness.start('orchestrator');
  });
  afterAll(() => harness?.stop());

  const cancel = (jobId: string) =>
    harness.gateway.facts.record({
      ...{ type: 'CancelRequested', version: 1, id: `cr_${randomBase62(22)}`, source: 'gateway' },
      ...{ time: new Date().toISOString(), organization, jobId },
      data: { actor: { kind: 'key', id: 'key_0000000000000000' } },
    });

  async function freesItsSlot(service: 'page-renderer' | 'bundler', stuck: ObjectStore, unit: string): Promise<void> {
    const { tasksOf, stop } = await startWorkersOn(stuck, harness);
    try {
      const jobId = await harness.request(await harness.publish([{ path: 'a' }, { path: 'b' }]));
      await expect.poll(() => tasksOf(service), { timeout: withinMs }).toEqual([`${jobId}.${unit}.1`]);
      await cancel(jobId);
      await harness.until(jobId, ({ data }) => data.state.phase === 'cancelled');
      await expect.poll(() => tasksOf(service), { timeout: withinMs }).toEqual([]);
      // The task is not redelivered to another worker: the queue is empty.
      const admin = await harness.bus.admin();
      await expect.poll(async () => (await admin.streams.info('TASKS')).state.messages).toBe(0);
    } finally {
      await stop();
    }
  }

  test('frees the slot of a closing segment', { timeout: 180_000 }, async () => {
    const { objectStore } = harness;
    let closing: string | undefined;
    const stuck: ObjectStore = {
      ...objectStore,
      async get(key, options) {
        const [, planHash] = /plans\/.*?([0-9a-f]{64})/.exec(key) ?? [];
        if (planHash !== undefined)
          closing = segmentKey(organization, (await readPlan(objectStore, organization, planHash)).closingKey);
        return objectStore.get(key, options);
      },
      putStream: (key, body, options) =>
        key === closing ? hang(options?.signal) : objectStore.putStream(key, body, options),
    };
    await freesItsSlot('page-renderer', stuck, 'closing');
  });

  test('frees the slot of a bundle', { timeout: 180_000 }, async () => {
    const { objectStore } = harness;
    const stuck: ObjectStore = { ...objectStore, putParts: (_key, _parts, { signal }) => hang(signal) };
    await freesItsSlot('bundler', stuck, 'bundle');
  });
});
