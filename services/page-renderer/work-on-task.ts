import type { RenderTask } from '#shared/contracts/export-tasks.ts';
import { readPlan } from '#shared/export/export-objects.ts';
import { type Report, workAndReport } from '#shared/messaging/queue/task-queue.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { RendererContext } from './context.ts';
import { renderClosing, storedManifest } from './render-closing.ts';
import { renderChunk } from './render-segment.ts';

type ClosingTask = Extract<RenderTask, { kind: 'closing' }>;
type ChunkTask = Extract<RenderTask, { kind: 'chunk' }>;

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
  return task.kind === 'closing' ? close(context, task, signal) : renderOne(context, task, signal);
}

async function close(
  context: RendererContext,
  { attempt, organization, planHash, anew, after, segmentsLost }: ClosingTask,
  signal: AbortSignal,
): Promise<Report> {
  const { retry, objectStore } = context;
  const plan = await retryUnavailable(retry, signal, () => readPlan(objectStore, organization, planHash, signal));
  if (anew === undefined) {
    const manifestSha256 = await storedManifest(context, plan, signal);
    if (manifestSha256 !== undefined)
      return { type: 'ClosingRendered', data: { attempt, reused: true, manifestSha256 } };
  }
  // A replay must prove the bundle. A later attempt, or a lost segment, may be the effect of wrong data of an earlier closing segment. In all three
  // cases such data is not used.
  const isLater = attempt > 1 || segmentsLost === true;
  const options = { anew: anew === true || isLater, after: isLater ? undefined : after };
  const outcome = await renderClosing(context, plan, signal, options);
  if (outcome.kind === 'lost') {
    const reason = 'their sidecars are missing or damaged';
    return { type: 'SegmentsLost', data: { chunks: outcome.chunks, reason } };
  }
  return { type: 'ClosingRendered', data: { attempt, reused: false, manifestSha256: outcome.manifestSha256 } };
}

async function renderOne(context: RendererContext, task: ChunkTask, signal: AbortSignal): Promise<Report> {
  const { attempt, organization, chunk, anew } = task;
  const site = await retryUnavailable(context.retry, signal, () => context.sites(organization, task.planHash));
  const planned = site.plan.chunks[chunk];
  if (planned === undefined) throw new Error(`the plan ${task.planHash} has no chunk ${chunk}`);
  const startedAt = performance.now();
  const outcome = await renderChunk(context, site, planned, { alone: task.pagesAlone, anew: anew === true, signal });
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
