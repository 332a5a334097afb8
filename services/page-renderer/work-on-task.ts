import type { RenderTask } from '#shared/contracts/export-tasks.ts';
import { type Report, workAndReport } from '#shared/messaging/queue/task-queue.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { RendererContext } from './context.ts';
import { renderClosing } from './render-closing.ts';
import { renderChunk } from './render-segment.ts';

/** Renders one task and reports the outcome as a fact. Rejects when the task must be redelivered. */
export async function workOnTask(
  context: RendererContext,
  task: RenderTask,
  deliveryCount: number,
  signal: AbortSignal,
): Promise<void> {
  const { attempt } = task;
  await workAndReport(context, task, deliveryCount, signal, {
    work: () => render(context, task, signal),
    failed: (reason) =>
      task.kind === 'closing'
        ? { type: 'ClosingFailed', data: { attempt, reason } }
        : { type: 'ChunkFailed', data: { chunk: task.chunk, attempt, cause: 'renderer', reason, failedPages: [] } },
  });
  crashPoint('after-fact', 'page-renderer');
}

async function render(context: RendererContext, task: RenderTask, signal: AbortSignal): Promise<Report> {
  const { attempt, organization } = task;
  const site = await retryUnavailable(context.retry, signal, () => context.sites(organization, task.planHash));
  if (task.kind === 'closing') {
    const outcome = await renderClosing(context, site, signal);
    if (outcome.kind === 'lost') {
      const reason = 'their sidecars are missing or damaged';
      return { type: 'SegmentsLost', data: { chunks: outcome.chunks, reason } };
    }
    const { manifestSha256, reused } = outcome;
    return { type: 'ClosingRendered', data: { attempt, reused, manifestSha256 } };
  }
  const { chunk } = task;
  const planned = site.plan.chunks[chunk];
  if (planned === undefined) throw new Error(`the plan ${task.planHash} has no chunk ${chunk}`);
  const startedAt = performance.now();
  const outcome = await renderChunk(context, site, planned, { alone: task.pagesAlone, signal });
  if (outcome.kind === 'pages-failed') {
    const { failedPages } = outcome;
    const reason = `${failedPages.length} of its pages cannot be rendered`;
    context.measures.pages('failed', failedPages.length);
    return { type: 'ChunkFailed', data: { chunk, attempt, cause: 'pages', reason, failedPages } };
  }
  const { pageCount, reused } = outcome;
  const durationMs = Math.round(performance.now() - startedAt);
  context.measures.pages(reused ? 'reused' : 'rendered', pageCount);
  if (!reused) context.measures.chunk(durationMs / 1_000);
  return { type: 'ChunkRendered', data: { chunk, attempt, pageCount, reused, durationMs } };
}
