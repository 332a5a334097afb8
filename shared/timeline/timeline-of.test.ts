import { expect, test } from 'vitest';
import { exampleHistory, exampleStart, historyAfterPlan } from '../../test/support/example-history.ts';
import { timelineOf } from './timeline-of.ts';
import { ticksOf } from './timeline.ts';

const later = (ms: number) => new Date(Date.parse(exampleStart) + ms);
const example = timelineOf(exampleHistory(), later(60_000));

test('phases follow each other without gaps, and come back when a segment is lost', () => {
  expect(example.phases.map(({ name }) => name)).toEqual([
    'queued',
    'rendering',
    'closing',
    'joining',
    'rendering',
    'closing',
    'joining',
  ]);
  example.phases.forEach((phase, index) => expect(phase.startMs).toBe(example.phases[index - 1]?.endMs ?? 0));
  expect(example.phases.at(-1)?.endMs).toBe(example.durationMs);
});

test('an ended job lasts until its last event, a running one until now', () => {
  expect(example).toMatchObject({ outcome: 'completed', durationMs: 4_790, bundle: { sizeBytes: 6_412_377 } });
  const running = timelineOf(exampleHistory(1_000), later(2_500));
  expect(running).toMatchObject({ outcome: 'running', durationMs: 2_500 });
  expect(running.phases.at(-1)).toEqual({ name: 'rendering', startMs: 310, endMs: 2_500 });
  expect(timelineOf(exampleHistory(1_000), later(-5_000)).durationMs).toBe(930);
});

test('every renderer has a lane with its chunks over time, the bundler the last one', () => {
  expect(example.lanes.map(({ worker, chunks, pages }) => [worker, chunks, pages])).toEqual([
    ['page-renderer-Qm4t8Zk1', 21, 380],
    ['page-renderer-x7Rr02Ld', 3, 60],
    ['bundler', 0, 0],
  ]);
  const bar = example.lanes[0]?.rows.flat().find(({ chunk }) => chunk === 6);
  expect(bar).toMatchObject({ work: 'chunk', startMs: 690, endMs: 930, pages: 20, attempt: 1, reused: false });
});

test('a renderer has as many rows as it had slots, and no row has two things at once', () => {
  for (const { rows } of example.lanes) {
    expect(rows.length).toBeLessThanOrEqual(2);
    for (const row of rows) {
      row.forEach((bar, index) => expect(bar.startMs).toBeGreaterThanOrEqual(row[index - 1]?.endMs ?? 0));
    }
  }
});

test('facts that were committed together may have ended one after the other', () => {
  const chunk = (chunk: number) => ({
    type: 'ChunkRendered' as const,
    version: 1 as const,
    data: { chunk, pageCount: 1, attempt: 1, renderer: 'r', reused: false, durationMs: 40 },
  });
  const [lane] = timelineOf(historyAfterPlan([500, chunk(0), chunk(1), chunk(2)]), later(600)).lanes;
  expect(lane?.rows).toHaveLength(1);
  expect(lane?.rows[0]?.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([
    [380, 420],
    [420, 460],
    [460, 500],
  ]);
});

test('chunks that were reused together are one bar of the orchestrator, and count each', () => {
  const together = { type: 'ChunksReused' as const, version: 1 as const, data: { chunks: 'BQ==', pageCount: 40 } };
  const lost = {
    type: 'SegmentLost' as const,
    version: 1 as const,
    data: { chunk: 2, reason: 'it is gone', pageCount: 20 },
  };
  const shown = timelineOf(historyAfterPlan([500, together]), later(600));
  expect(shown.lanes.map(({ worker, chunks, pages }) => [worker, chunks, pages])).toEqual([['orchestrator', 2, 40]]);
  expect(shown.lanes[0]?.rows.flat()).toMatchObject([{ work: 'chunk', together: 2, reused: true, pages: 40 }]);
  expect(shown.totals).toMatchObject({ chunks: 2, reused: 2, pages: 40 });
  const after = timelineOf(historyAfterPlan([500, together], [510, lost]), later(600));
  expect(after.totals).toMatchObject({ chunks: 1, reused: 1, pages: 20 });
});

test('a second attempt begins after the first has failed', () => {
  const again = example.lanes[0]?.rows.flat().find(({ chunk, attempt }) => chunk === 9 && attempt === 2);
  expect(again?.startMs).toBeGreaterThanOrEqual(1_100);
});

test('a renderer waits while the job renders and it has no chunk', () => {
  const [lively, doomed] = example.lanes;
  expect(doomed?.waits.at(-1)).toEqual({ startMs: 4_180, endMs: 4_380 });
  expect(doomed?.waits.some(({ startMs, endMs }) => startMs === 790 && endMs === 3_640)).toBe(true);
  expect(lively?.waits).toContainEqual({ startMs: 2_410, endMs: 3_420 });
  expect(example.lanes.at(-1)?.waits).toEqual([]);
});

test('each trouble has its worker, its reason, and the time when it was made good', () => {
  expect(example.troubles).toMatchObject([
    {
      kind: 'attempt-failed',
      what: 'chunk 9',
      attempt: 1,
      worker: 'page-renderer-Qm4t8Zk1',
      reason: expect.stringContaining('SIGKILL'),
      madeGoodMs: 1_330,
    },
    { kind: 'timed-out', what: 'chunk 7', atMs: 3_400, madeGoodMs: 3_640 },
    { kind: 'segment-lost', what: 'chunk 16', reason: expect.stringContaining('digest'), madeGoodMs: 4_380 },
  ]);
});

test('totals count a chunk once and its attempts each', () => {
  expect(example.totals).toMatchObject({
    pageTotal: 420,
    chunkTotal: 23,
    pages: 420,
    chunks: 23,
    reused: 2,
    renderers: 2,
    // The job makes 23 chunks, a closing segment and a bundle. It repeats chunks 7 and 9, and the lost chunk 16 with the closing segment.
    attempts: 29,
    repeated: 4,
  });
});

test('pages that cannot be rendered are named, and nothing made them good', () => {
  const failed = {
    type: 'ChunkFailed' as const,
    version: 1 as const,
    data: {
      chunk: 3,
      attempt: 4,
      renderer: 'orchestrator',
      cause: 'pages' as const,
      reason: 'its renderer was lost in the last of 4 attempts',
      failedPages: [{ path: 'guides/x', reason: 'too slow' }],
    },
  };
  const end = {
    type: 'ExportFailed' as const,
    version: 1 as const,
    data: { error: 'The page guides/x could not be rendered.', failedPageCount: 1 },
  };
  const timeline = timelineOf(historyAfterPlan([900, failed, end]), later(5_000));
  expect(timeline).toMatchObject({ outcome: 'failed', error: expect.stringContaining('guides/x'), durationMs: 900 });
  expect(timeline.troubles).toEqual([expect.objectContaining({ kind: 'pages-failed', pages: ['guides/x'] })]);
  expect(timeline.troubles[0]).not.toHaveProperty('worker');
});

test('chunks of a new plan are others, though they have the same numbers', () => {
  const chunk = (number: number) => ({
    type: 'ChunkRendered' as const,
    version: 1 as const,
    data: { chunk: number, pageCount: 1, attempt: 1, renderer: 'r', reused: false, durationMs: 40 },
  });
  const replanned = {
    type: 'PagesReplanned' as const,
    version: 1 as const,
    data: {
      planHash: 'b'.repeat(64),
      rendererVersion: 'r-ba9876543210',
      chunkCount: 2,
      pageTotal: 2,
      replacedVersion: 'r-0123456789ab',
    },
  };
  const timeline = timelineOf(historyAfterPlan([500, chunk(0)], [700, replanned], [900, chunk(0)]), later(1_000));
  expect(timeline).toMatchObject({
    rendererVersion: 'r-ba9876543210',
    totals: { pages: 1, chunks: 1, pageTotal: 2, chunkTotal: 2, attempts: 2, repeated: 1 },
  });
});

test('events that this command does not know are left out of the picture and kept in the list', () => {
  const history = exampleHistory().map((entry) =>
    entry.type === 'ChunkTimedOut' ? { ...entry, type: 'ChunkStolen' } : entry,
  );
  const timeline = timelineOf(history, later(0));
  expect(timeline.troubles.map(({ what }) => what)).not.toContain('chunk 7');
  expect(timeline.events.map(({ type }) => type)).toContain('ChunkStolen');
});

test('a history without its request is refused with a way out', () => {
  expect(() => timelineOf(exampleHistory().slice(1), later(0))).toThrow(/--list/);
  expect(() => timelineOf([], later(0))).toThrow(/--list/);
});

test.each([
  [4_790, 6, 1_000],
  [700, 8, 100],
  [95_000, 5, 30_000],
  [4 * 3_600_000, 5, 3_600_000],
  [30 * 3_600_000, 5, 6 * 3_600_000],
])('ticks of %d ms, at most %d, are %d ms apart', (durationMs, most, step) => {
  const ticks = ticksOf(durationMs, most);
  expect(ticks[1]).toBe(step);
  expect(ticks.length).toBeLessThanOrEqual(most + 1);
  expect(ticks.at(-1)).toBeLessThanOrEqual(durationMs);
});
