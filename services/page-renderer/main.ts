import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { childLosses, childPool } from '#shared/docs/sandbox/child-pool.ts';
import { withSnapshotSoon } from '#shared/docs/sandbox/child-snapshot.ts';
import { describeConfinement, kernelConfinement } from '#shared/docs/sandbox/confinement.ts';
import { requireNativeParser } from '#shared/docs/sandbox/native-code.ts';
import { startWorker, storeRetry } from '#shared/messaging/queue/task-queue.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { type Running, startService } from '#shared/service/start-service.ts';
import type { PageRendererConfig } from './config.ts';
import type { RendererContext, RenderMeasures } from './context.ts';
import { plannedSites, projectTexts } from './planned-sites.ts';
import { renderChild } from './render-pages.ts';
import { digestStates } from './running-digest.ts';
import { sampleWarmUp } from './sample-chunk.ts';
import { workOnTask } from './work-on-task.ts';

export { pageRendererSettings as settings } from './config.ts';

/** Requests after which a child is replaced, about 5,000 pages. */
const requestsPerChild = 500;

/** Upper bounds of the histogram, in seconds. */
const chunkBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const renderMeasures = (metrics: Pick<Metrics, 'counter' | 'histogram'>): RenderMeasures => ({
  pages: metrics.counter('bindery_pages_rendered_total', 'Pages of reported chunks, by outcome.', 'outcome', [
    'rendered',
    'reused',
    'failed',
  ]),
  chunk: metrics.histogram('bindery_chunk_seconds', 'Time in which a chunk was rendered and stored.', chunkBuckets),
});

/** Takes chunks of exports from the queue and renders them. */
export function start(config: PageRendererConfig): Promise<Running> {
  return startService('page-renderer', config, async (service) => {
    const { bus, metrics, objectStore } = service;
    requireNativeParser();
    const version = await rendererVersion();
    service.logger.info(`children that read tenants' bytes: ${describeConfinement(kernelConfinement())}`);
    const program = await withSnapshotSoon(renderChild, service.logger, service.stopping);
    const onLost = metrics.counter(
      'bindery_renderer_children_lost_total',
      'Children that ended while rendering: "deadline" were killed at the deadline, "died" crashed, "misbehaved" were killed for invalid messages.',
      'how',
      childLosses,
    );
    const { slots } = config;
    const pool = childPool({
      ...program,
      slots,
      warmSpares: slots,
      warmUp: await sampleWarmUp(),
      requestsPerChild,
      onLost,
    });
    const context: RendererContext = {
      ...service,
      facts: bus.facts,
      pool,
      freshPool: () => childPool({ ...program, slots: 1, warmSpares: 0, requestsPerChild: 1, onLost }),
      sites: plannedSites(objectStore),
      texts: projectTexts(objectStore),
      digests: digestStates(),
      pageDeadlineMs: config.pageDeadlineMs,
      measures: renderMeasures(metrics),
      retry: storeRetry,
    };
    const drain = startWorker(service, {
      reader: await bus.renderTasks(version),
      // The extra slot lets a child find the next chunk already read, while its last one is stored and reported.
      slots: slots + 1,
      rendererVersion: version,
      work: (task, deliveryCount, signal) => workOnTask(context, task, deliveryCount, signal),
    });
    return { drain, close: () => pool.close() };
  });
}
