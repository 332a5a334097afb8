import type { RenderTask } from '#shared/contracts/export-tasks.ts';
import { checkDeliveries, mostReasonCharacters, reportFact, type Report } from '#shared/messaging/task-queue.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { RendererContext } from './context.ts';
import { renderClosing } from './render-closing.ts';
import { renderChunk } from './render-segment.ts';

/**
 * Works on one task and reports its outcome as a fact. Rejects when the fact could not be recorded or `signal` aborts: then the task has to
 * come again.
 */
export async function workOnTask(
  context: RendererContext,
  task: RenderTask,
  deliveryCount: number,
  signal: AbortSignal,
): Promise<void> {
  const report = await outcomeOf(context, task, deliveryCount, signal);
  await reportFact(context, task, report, signal);
  crashPoint('after-fact', 'page-renderer');
}

async function outcomeOf(
  context: RendererContext,
  task: RenderTask,
  deliveryCount: number,
  signal: AbortSignal,
): Promise<Report> {
  try {
    checkDeliveries(deliveryCount);
    return await render(context, task, signal);
  } catch (error) {
    signal.throwIfAborted();
    context.logger.warn({ err: error, taskId: task.taskId }, 'a task failed');
    const { attempt } = task;
    const reason = messageOf(error).slice(0, mostReasonCharacters);
    if (task.kind === 'closing') return { type: 'ClosingFailed', data: { attempt, reason } };
    return { type: 'ChunkFailed', data: { chunk: task.chunk, attempt, cause: 'renderer', reason, failedPages: [] } };
  }
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
    return { type: 'ChunkFailed', data: { chunk, attempt, cause: 'pages', reason, failedPages } };
  }
  const { pageCount, reused } = outcome;
  const durationMs = Math.round(performance.now() - startedAt);
  return { type: 'ChunkRendered', data: { chunk, attempt, pageCount, reused, durationMs } };
}
