import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { ExportEvent } from '#shared/contracts/export-events.ts';

/** What the log of an export says about the work in it. */
export type JobStory = {
  planHash: string;
  pages: number;
  /** Of chunks that were not there already. */
  pagesRendered: number;
  chunks: number;
  chunksRendered: number;
  /** Seconds from the request to the plan, to the last chunk, to the closing segment, to the bundle; each from the one before. */
  phases: { planning: number; rendering: number; closing: number; joining: number };
};

/** Reads the commits of a completed export, oldest first. Pure. */
export function jobStory(commits: readonly ExportCommit[]): JobStory {
  const happened = commits.flatMap(({ time, data }) => data.events.map((event) => ({ event, at: Date.parse(time) })));
  const at = (type: ExportEvent['type']): number => happened.findLast(({ event }) => event.type === type)?.at ?? NaN;
  const chunks = happened.flatMap(({ event }) => (event.type === 'ChunkRendered' ? [event.data] : []));
  const made = chunks.filter(({ reused }) => !reused);
  const planned = happened.flatMap(({ event }) => (event.type === 'PagesPlanned' ? [event.data] : []))[0];
  const moments = [
    at('ExportRequested'),
    at('PagesPlanned'),
    at('RenderingFinished'),
    at('ClosingRendered'),
    at('ExportCompleted'),
  ];
  const [planning = NaN, rendering = NaN, closing = NaN, joining = NaN] = moments
    .slice(1)
    .map((moment, index) => (moment - (moments[index] ?? NaN)) / 1_000);
  return {
    planHash: planned?.planHash ?? '',
    pages: planned?.pageTotal ?? 0,
    pagesRendered: made.reduce((sum, { pageCount }) => sum + pageCount, 0),
    chunks: chunks.length,
    chunksRendered: made.length,
    phases: { planning, rendering, closing, joining },
  };
}
