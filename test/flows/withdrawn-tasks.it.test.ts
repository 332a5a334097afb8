import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workOnTask as joinBundle } from '#services/bundler/work-on-task.ts';
import type { RendererContext } from '#services/page-renderer/context.ts';
import { renderChild } from '#services/page-renderer/main.ts';
import { plannedSites, projectTexts } from '#services/page-renderer/planned-sites.ts';
import { digestStates } from '#services/page-renderer/running-digest.ts';
import { workOnTask as render } from '#services/page-renderer/work-on-task.ts';
import type { PresenceReport } from '#shared/contracts/export-tasks.ts';
import { segmentKey } from '#shared/contracts/stored-objects.ts';
import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { readPlan } from '#shared/export/export-objects.ts';
import { startWorker, workerRetry } from '#shared/messaging/queue/task-queue.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { type ExportHarness, organization, startExportHarness } from '../support/export-harness.ts';

/** Rejects when `signal` aborts, like an upload to a store that does not answer. */
const hang = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** A time far below the one after which a store that does not answer fails a task. */
const withinMs = 15_000;

describeWithServers(['nats-server'], 'a worker whose export is cancelled while it works on the last steps', () => {
  let harness: ExportHarness;
  const pool = childPool({ ...renderChild, slots: 1, warmSpares: 0 });
  beforeAll(async () => {
    harness = await startExportHarness();
    await harness.start('orchestrator');
  });
  afterAll(async () => {
    await pool.close();
    await harness?.stop();
  });

  const reporting = (service: string) => ({
    ...{ clock: systemClock, random: randomBase62, instance: `${service}-test`, retry: workerRetry },
    logger: pino({ level: 'silent' }),
  });

  /** Starts a renderer and a bundler with one slot each, which use these stores. */
  async function workers(objectStore: ObjectStore) {
    const rendererBus = await harness.bus.connect('page-renderer', randomBase62(8));
    const bundlerBus = await harness.bus.connect('bundler', randomBase62(8));
    const version = await rendererVersion();
    const reports: Record<string, PresenceReport> = {};
    const noted = (bus: typeof rendererBus | typeof bundlerBus) => ({
      ...bus,
      presence: {
        ...bus.presence,
        announce: (report: () => PresenceReport) =>
          bus.presence.announce(() => {
            const current = report();
            reports[current.service] = current;
            return current;
          }),
      },
    });
    const context: RendererContext = {
      ...{ ...reporting('page-renderer'), objectStore, facts: rendererBus.facts, pool, freshPool: () => pool },
      ...{ sites: plannedSites(objectStore), texts: projectTexts(objectStore), digests: digestStates() },
      ...{ pageDeadlineMs: 10_000, measures: { pages: () => {}, chunk: () => {} } },
    };
    const stopRenderer = startWorker(
      { ...reporting('r'), name: 'page-renderer', metrics: serviceMetrics('page-renderer'), bus: noted(rendererBus) },
      {
        reader: await rendererBus.renderTasks(version),
        slots: 1,
        rendererVersion: version,
        work: (task, count, signal) => render(context, task, count, signal),
      },
    );
    const bundlerContext = { ...reporting('bundler'), objectStore, facts: bundlerBus.facts };
    const stopBundler = startWorker(
      { ...reporting('b'), name: 'bundler', metrics: serviceMetrics('bundler'), bus: noted(bundlerBus) },
      {
        reader: await bundlerBus.bundleTasks(),
        slots: 1,
        work: (task, count, signal) => joinBundle(bundlerContext, task, count, signal),
      },
    );
    return {
      tasksOf: (service: string) => reports[service]?.tasks ?? [],
      stop: () => Promise.all([stopRenderer(), stopBundler()]),
    };
  }

  const cancel = (jobId: string) =>
    harness.gateway.facts.record({
      ...{ type: 'CancelRequested', version: 1, id: `cr_${randomBase62(22)}`, source: 'gateway' },
      ...{ time: new Date().toISOString(), organization, jobId },
      data: { actor: { kind: 'key', id: 'key_0000000000000000' } },
    });
  const pages = [{ path: 'a' }, { path: 'b' }];

  async function freesItsSlot(service: string, stuck: ReturnType<typeof workers>, unit: string): Promise<void> {
    const { tasksOf, stop } = await stuck;
    try {
      const jobId = await harness.request(await harness.publish(pages));
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

  test('frees the slot of a closing segment', { timeout: 60_000 }, async () => {
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
    await freesItsSlot('page-renderer', workers(stuck), 'closing');
  });

  test('frees the slot of a bundle', { timeout: 60_000 }, async () => {
    const { objectStore } = harness;
    const stuck: ObjectStore = { ...objectStore, putParts: (_key, _parts, { signal }) => hang(signal) };
    await freesItsSlot('bundler', workers(stuck), 'bundle');
  });
});
