import pino from 'pino';
import { workOnTask as joinBundle } from '#services/bundler/work-on-task.ts';
import type { RendererContext } from '#services/page-renderer/context.ts';
import { renderChild } from '#services/page-renderer/render-pages.ts';
import { plannedSites, projectTexts } from '#services/page-renderer/planned-sites.ts';
import { digestStates } from '#services/page-renderer/running-digest.ts';
import { workOnTask as render } from '#services/page-renderer/work-on-task.ts';
import type { PresenceReport } from '#shared/contracts/export-tasks.ts';
import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { startWorker, storeRetry } from '#shared/messaging/queue/task-queue.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { ExportHarness } from './export-harness.ts';

const reporting = (service: string) => ({
  ...{ clock: systemClock, random: randomBase62, instance: `${service}-${randomBase62(8)}`, retry: storeRetry },
  logger: pino({ level: 'silent' }),
});

/** A renderer and a bundler with one slot each, as their services start them, on a store that a test wraps. */
export async function startWorkersOn(objectStore: ObjectStore, { bus }: Pick<ExportHarness, 'bus'>) {
  const [rendererBus, bundlerBus] = await Promise.all([
    bus.connect('page-renderer', randomBase62(8)),
    bus.connect('bundler', randomBase62(8)),
  ]);
  const version = await rendererVersion();
  const pool = childPool({ ...renderChild, slots: 1, warmSpares: 0 });
  const reports: Record<string, PresenceReport> = {};
  const noted = (own: typeof rendererBus | typeof bundlerBus) => ({
    ...own,
    presence: {
      ...own.presence,
      announce: (report: () => PresenceReport) =>
        own.presence.announce(() => {
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
  const bundlerContext = { ...reporting('bundler'), objectStore, facts: bundlerBus.facts };
  const stopRenderer = startWorker(
    { ...context, name: 'page-renderer', metrics: serviceMetrics('page-renderer'), bus: noted(rendererBus) },
    {
      reader: await rendererBus.renderTasks(version),
      slots: 1,
      rendererVersion: version,
      work: (task, count, signal) => render(context, task, count, signal),
    },
  );
  const stopBundler = startWorker(
    { ...bundlerContext, name: 'bundler', metrics: serviceMetrics('bundler'), bus: noted(bundlerBus) },
    {
      reader: await bundlerBus.bundleTasks(),
      slots: 1,
      work: (task, count, signal) => joinBundle(bundlerContext, task, count, signal),
    },
  );
  return {
    /** The tasks in flight of a service, as it reported them. */
    tasksOf: (service: 'page-renderer' | 'bundler') => reports[service]?.tasks ?? [],
    stop: async (): Promise<void> => {
      await Promise.all([stopRenderer(), stopBundler()]);
      await pool.close();
    },
  };
}
