import type { ExportJobState } from '#shared/contracts/export-job-state.ts';
import type { BundleTask, RenderTask } from '#shared/contracts/export-tasks.ts';
import { chunksOutside } from './chunk-bitmap.ts';
import type { WorkerGroup } from './handed-out.ts';
import { attemptOf, attemptsBeforePagesAlone, bundleUnit, closingUnit, type WorkUnit } from './job-phase.ts';

/** What is left to do in the job's phase: repeated chunks first, so that few have lost attempts at a time. Pure. */
export function openUnits(state: ExportJobState): WorkUnit[] {
  if (state.phase === 'closing') return [closingUnit];
  if (state.phase === 'joining') return [bundleUnit];
  if (state.phase !== 'rendering') return [];
  const open = chunksOutside(state.chunkCount, state.doneChunks, state.failedChunks);
  const repeated = open.filter((chunk) => attemptOf(state, chunk) > 1);
  return repeated.length === 0 ? open : [...repeated, ...open.filter((chunk) => attemptOf(state, chunk) === 1)];
}

/**
 * The same attempt at the same work has the same id, so a task that is handed out twice around a change of leader is stored once. After a
 * lost segment the same attempt is new work, which the queue must not take for the old one. Pure.
 */
export function taskIdOf(state: ExportJobState, unit: WorkUnit): string {
  const lost = state.lostSegments === undefined ? '' : `.${state.lostSegments}`;
  return `${state.jobId}.${unit}.${attemptOf(state, unit)}${lost}`;
}

/** Undefined before the plan. */
export function groupOf(state: ExportJobState): WorkerGroup | undefined {
  if (state.phase === 'joining') return { service: 'bundler' };
  return state.rendererVersion === undefined
    ? undefined
    : { service: 'page-renderer', rendererVersion: state.rendererVersion };
}

/** The task of a planned job's unit. Throws when the job has no plan. */
export function taskOf(
  state: ExportJobState,
  unit: WorkUnit,
  traceparent: string | undefined,
): RenderTask | BundleTask {
  const { planHash, rendererVersion, organization, jobId, domain } = state;
  if (planHash === undefined || rendererVersion === undefined) throw new Error(`The job ${jobId} has no plan yet.`);
  const attempt = attemptOf(state, unit);
  const common = {
    version: 1 as const,
    taskId: taskIdOf(state, unit),
    organization,
    jobId,
    domain,
    planHash,
    attempt,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  if (unit === bundleUnit) return { ...common, kind: 'bundle' };
  if (unit === closingUnit) return { ...common, kind: 'closing', rendererVersion };
  return {
    ...common,
    kind: 'chunk',
    rendererVersion,
    chunk: unit,
    pagesAlone: attempt > attemptsBeforePagesAlone,
  };
}
