import { expect, test } from 'vitest';
import type { ExportCommit, ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import { jobStory } from './export-installation.ts';

const commit = (second: number, ...events: { type: string; data: object }[]) =>
  ({
    time: new Date(second * 1_000).toISOString(),
    data: { events: events as unknown as ExportEvent[] },
  }) as ExportCommit;
const chunk = (pageCount: number, reused: boolean) => ({ type: 'ChunkRendered', data: { pageCount, reused } });

test('rendered pages and the duration of each phase', () => {
  const commits = [
    commit(1, { type: 'ExportRequested', data: {} }),
    commit(
      2,
      { type: 'PagesPlanned', data: { planHash: 'abc', pageTotal: 45 } },
      { type: 'ChunksReused', data: { chunks: 'Aw==', pageCount: 20 } },
    ),
    commit(4, chunk(10, false), chunk(12, true)),
    commit(5, chunk(3, false), { type: 'RenderingFinished', data: {} }),
    commit(8, { type: 'ClosingRendered', data: {} }),
    commit(9, { type: 'ExportCompleted', data: {} }),
  ];
  expect(jobStory(commits)).toEqual({
    planHash: 'abc',
    pages: 45,
    pagesRendered: 13,
    chunks: 5,
    chunksRendered: 2,
    phases: { planning: 1, rendering: 3, closing: 3, joining: 1 },
  });
});
