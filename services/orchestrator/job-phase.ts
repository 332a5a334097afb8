import type { ExportJobState } from '#shared/contracts/export-job-state.ts';

/** Whether anything can still happen to the job. */
export function isActive(phase: ExportJobState['phase']): boolean {
  return phase !== 'completed' && phase !== 'failed' && phase !== 'cancelled';
}

/** Keys of `timedOutAttempts` for work that is no chunk. */
export const closingUnit = 'closing';
export const bundleUnit = 'bundle';

/** One piece of work that is handed out at once: a chunk by its number, the closing segment, the bundle. */
export type WorkUnit = number | typeof closingUnit | typeof bundleUnit;

/** The attempt that a piece of work is at: 1, and one more for each that failed as a whole or was lost. */
export function attemptOf(state: ExportJobState, unit: WorkUnit): number {
  return (state.timedOutAttempts[String(unit)] ?? 0) + 1;
}

/** After so many attempts a chunk's pages run one by one, to find the one that takes renderers down. */
export const attemptsBeforePagesAlone = 2;
/** When this attempt fails, too, the chunk's pages have failed for good. */
export const maxChunkAttempts = 4;
/** Of the closing segment and of the bundle. */
export const maxClosingAttempts = 3;
