import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { withSnapshotSoon } from '#shared/docs/sandbox/child-snapshot.ts';
import { describeConfinement, kernelConfinement } from '#shared/docs/sandbox/confinement.ts';
import { requireNativeParser } from '#shared/docs/sandbox/native-code.ts';
import { startWorker, workerRetry } from '#shared/messaging/task-queue.ts';
import { type Running, startService } from '#shared/runtime/start-service.ts';
import type { PageRendererConfig } from './config.ts';
import type { RendererContext } from './context.ts';
import { plannedSites, projectTexts } from './planned-sites.ts';
import { workOnTask } from './work-on-task.ts';

export { pageRendererSettings as settings } from './config.ts';

/** The parser of pages and the compiler of components are native code. */
export const renderChild = {
  entry: new URL('../../shared/docs/render/render-child.ts', import.meta.url),
  addons: true,
};

/** Some 5,000 pages. */
const requestsPerChild = 500;

/** Takes chunks of exports from the queue and renders them. */
export function start(config: PageRendererConfig): Promise<Running> {
  return startService('page-renderer', config, async (service) => {
    const { bus, objectStore } = service;
    requireNativeParser();
    const version = await rendererVersion();
    service.logger.info(`children that read tenants' bytes: ${describeConfinement(kernelConfinement())}`);
    const program = await withSnapshotSoon(renderChild, service.logger, service.stopping);
    const pool = childPool({ ...program, slots: config.slots, requestsPerChild });
    const context: RendererContext = {
      ...service,
      facts: bus.facts,
      pool,
      freshPool: () => childPool({ ...program, slots: 1, warmSpares: 0, requestsPerChild: 1 }),
      sites: plannedSites(objectStore),
      texts: projectTexts(objectStore),
      pageDeadlineMs: config.pageDeadlineMs,
      retry: workerRetry,
    };
    const drain = startWorker(service, {
      reader: await bus.renderTasks(version),
      // A child that has rendered a chunk finds the next one read, while its own is stored and reported.
      slots: config.slots + 1,
      rendererVersion: version,
      work: (task, deliveryCount, signal) => workOnTask(context, task, deliveryCount, signal),
    });
    return { drain, close: () => pool.close() };
  });
}
