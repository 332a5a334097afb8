import type { ExportPlan, PlanChunk } from '#shared/contracts/stored-objects.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

/** Consecutive chunks of a plan, whose facts are folded together. `first`: the number of the first of them. */
export type SegmentRun = { first: number; chunks: readonly PlanChunk[] };

const fewestChunks = 8;
const mostChunks = 64;
/** Average number of chunks to the end of a run, once the run has the minimum of chunks. */
const chunksToEnd = 24;

/**
 * Divides the chunks of a plan into runs. A run ends where the path of a page or file decides it, so that a changed chunk changes only its own run, and
 * an added one at most a few. Pure.
 */
export function segmentRuns({ chunks }: Pick<ExportPlan, 'chunks'>): SegmentRun[] {
  const runs: SegmentRun[] = [];
  let first = 0;
  for (const [at, chunk] of chunks.entries()) {
    const length = at + 1 - first;
    const isEnd = at === chunks.length - 1 || length === mostChunks || (length >= fewestChunks && mayEnd(chunk));
    if (!isEnd) continue;
    runs.push({ first, chunks: chunks.slice(first, at + 1) });
    first = at + 1;
  }
  return runs;
}

function mayEnd(chunk: PlanChunk): boolean {
  const last = chunk.kind === 'site' ? undefined : chunk.paths.at(-1);
  return last !== undefined && Number.parseInt(sha256Of(last).slice(0, 8), 16) % chunksToEnd === 0;
}
