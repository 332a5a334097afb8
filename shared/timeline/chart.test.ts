import { expect, test } from 'vitest';
import { exampleHistory, historyAfterPlan } from '../../test/support/example-history.ts';
import { chart } from './chart.ts';
import { drawnHtml } from './drawn-html.ts';
import { timelineOf } from './timeline-of.ts';

const now = new Date('2026-03-01T11:00:00.000Z');
const barsIn = (html: string): string[] =>
  [...html.matchAll(/<g><title>([^<]*)<\/title><rect class="bar/g)].map(([, title = '']) => title);

test('a job with thousands of chunks is drawn with a limited number of bars, which stand for all chunks', () => {
  const chunks = 6_000;
  const atOnce = 20;
  const history = historyAfterPlan(
    ...Array.from({ length: chunks / atOnce }, (_, commit): Parameters<typeof historyAfterPlan>[number] => [
      1_000 + commit * 100,
      ...Array.from({ length: atOnce }, (__, fact) => ({
        type: 'ChunkRendered' as const,
        version: 1 as const,
        data: {
          ...{ chunk: commit * atOnce + fact, pageCount: 10, attempt: 1, renderer: `page-renderer-${fact % 4}` },
          ...{ reused: false, durationMs: 15 },
        },
      })),
    ]),
  );
  const { text } = drawnHtml(chart(timelineOf(history, now)));
  const bars = barsIn(text);
  expect(bars.length).toBeLessThanOrEqual(1_500);
  expect(text.length).toBeLessThan(300_000);
  const drawn = bars.map((title) => Number(/^([\d,.\u202f]+) chunks/.exec(title)?.[1]?.replaceAll(/\D/g, '') ?? 1));
  expect(drawn.reduce((sum, count) => sum + count, 0)).toBe(chunks);
});

test('a small job has a bar for each piece of work', () => {
  const timeline = timelineOf(exampleHistory(), now);
  const { text } = drawnHtml(chart(timeline));
  expect(barsIn(text)).toHaveLength(timeline.lanes.flatMap(({ rows }) => rows.flat()).length);
});
