import { expect, test } from 'vitest';
import { noPaint, type Paint } from '../terminal.ts';
import { exampleHistory, exampleStart, historyAfterPlan } from '../../../test/support/example-history.ts';
import { timelineOf } from '#shared/timeline/timeline-of.ts';
import { timelineText } from './timeline-text.ts';

const now = new Date(Date.parse(exampleStart) + 2_500);
const example = timelineOf(exampleHistory(), now);
const linesOf = (width: number, paint: Paint = noPaint) => timelineText(example, { width, paint }).split('\n');
const lineOf = (label: string, width = 120) => linesOf(width).find((line) => line.startsWith(label)) ?? '';

test('says what job it is, how it ended and what it took', () => {
  const text = linesOf(120).join('\n');
  expect(text).toContain('Export of acme (v2)  ● completed after 4.79 s');
  expect(text).toContain('rendering 3.53 s');
  expect(text).toContain('420 pages in 23 chunks (2 reused) by 2 renderers; 29 attempts, 4 of them repeated.');
});

test('phases fill the whole strip in order', () => {
  const strip = lineOf('phases').replace('phases', '').trim();
  expect(strip).toMatch(/^─+█+▓+▒+█+▓+▒+$/);
});

test('each renderer has a lane, with what it did beside it', () => {
  expect(lineOf('renderer Qm4t8Zk1')).toMatch(/█.*21 chunks, 380 pages, waited 1.13 s$/);
  expect(lineOf('renderer x7Rr02Ld')).toMatch(/·{20}/);
  expect(lineOf('bundler')).toContain('▒');
});

test('failed attempts are on the lane of who failed, and all troubles on a row of their own', () => {
  const column = lineOf('trouble').indexOf('✕');
  const lane = linesOf(120).slice(6, 8);
  expect(lane.some((line) => line[column] === '✕')).toBe(true);
  expect(lineOf('trouble')).toMatch(/✕ +⊘ +↺/);
  expect(linesOf(120).at(-1)).toMatch(/4.18 s ↺ chunk 16: its segment was lost, .* → done again 200 ms later$/);
});

test.each([200, 100, 80, 60, 48])('the picture keeps within %d columns', (width) => {
  const lines = linesOf(width);
  const totals = lines.findIndex((line) => line.includes('pages in'));
  const picture = lines.slice(4, totals);
  expect(picture.length).toBeGreaterThan(6);
  expect(Math.max(...picture.map(({ length }) => length))).toBeLessThanOrEqual(width);
});

test('where chunks are too short to be told apart, height says how busy a renderer was', () => {
  expect(lineOf('renderer Qm4t8Zk1', 50)).toMatch(/[▂▃▄▅▆]/);
});

test('without colours there is no escape sequence, with colours every line ends what it began', () => {
  expect(linesOf(120).join('')).not.toContain('\u001b');
  const painted = timelineText(example, { width: 120, paint: (style, text) => `<${style}>${text}</${style}>` });
  for (const line of painted.split('\n')) {
    expect(line.match(/<[a-z]+>/g)?.length ?? 0).toBe(line.match(/<\/[a-z]+>/g)?.length ?? 0);
  }
});

test('a job that runs is drawn until now, one that only waits has a strip alone', () => {
  const running = timelineText(timelineOf(exampleHistory(1_000), now), { width: 100, paint: noPaint });
  expect(running).toContain('running for 2.5 s');
  expect(running).toMatch(/\d+ of 420 pages in 7 of 23 chunks/);
  const queued = timelineText(timelineOf(exampleHistory(0), now), { width: 100, paint: noPaint });
  expect(queued).toMatch(/phases +─+\n/);
});

test('texts of authors cannot control the terminal', () => {
  const reason = 'bad \u001b[2J\u009b2J page\nsecond line';
  const history = historyAfterPlan([
    900,
    {
      type: 'ChunkFailed',
      version: 1,
      data: {
        chunk: 3,
        attempt: 1,
        renderer: 'page-renderer-a',
        cause: 'pages',
        reason,
        failedPages: [{ path: 'a\u001bb', reason }],
      },
    },
    { type: 'ExportFailed', version: 1, data: { error: reason, failedPageCount: 1 } },
  ]);
  const text = timelineText(timelineOf(history, now), { width: 100, paint: noPaint });
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(text).toContain('chunk 3, attempt 1, renderer a: bad');
});
