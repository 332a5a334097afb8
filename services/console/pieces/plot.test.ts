import { expect, test } from 'vitest';
import { marksOf, plot, roundMost } from './plot.ts';

test.each([
  [0, 1],
  [1, 1],
  [2, 2],
  [3, 5],
  [7, 10],
  [11, 20],
  [21, 25],
  [26, 50],
  [99, 100],
  [101, 200],
  [1_000_000, 1_000_000],
])('an axis up to %d ends at %d', (most, end) => {
  expect(roundMost(most)).toBe(end);
});

test('marks are whole numbers and begin at zero', () => {
  expect([marksOf(1), marksOf(2), marksOf(5), marksOf(25), marksOf(100)]).toEqual([
    [0, 1],
    [0, 1, 2],
    [0, 5],
    [0, 25],
    [0, 50, 100],
  ]);
});

const heights = (text: string) =>
  [...text.matchAll(/<rect [^>]*height="([\d.]+)"/g)].map(([, height]) => Number(height));

test('bars are as high as their share, from zero; small ones are seen, and unknown ones are said', () => {
  const { text } = plot({
    title: 'Exports by day',
    unit: 'Exports',
    of: 'Day',
    bars: [
      { name: '2026-03-01', short: '1', value: 100 },
      { name: '2026-03-02', short: '2', value: 50 },
      { name: '2026-03-03', short: '3', value: 0 },
      { name: '2026-03-04', short: '4', value: 1 },
      { name: '2026-03-05', short: '5', value: undefined },
    ],
  });
  const [whole = 0, half = 0, none, small = 0, unknown] = heights(text);
  expect(half).toBeCloseTo(whole / 2, 0);
  expect([none, unknown]).toEqual([0, 0]);
  expect(small).toBeGreaterThanOrEqual(1.4);
  expect(text.match(/class="zero"/g)).toHaveLength(1);
  for (const mark of ['>0<', '>50<', '>100<']) expect(text).toContain(mark);
  const rows = [...text.matchAll(/<th scope="row">([^<]*)<\/th><td class="number">([^<]*)</g)].map(
    ([, ...cells]) => cells,
  );
  expect(rows).toEqual([
    ['2026-03-01', '100'],
    ['2026-03-02', '50'],
    ['2026-03-03', '0'],
    ['2026-03-04', '1'],
    ['2026-03-05', 'not known'],
  ]);
});

test('at most seven labels stand at the axis, and names are text', () => {
  const bars = Array.from({ length: 31 }, (_, at) => ({ name: '<script>', short: `d${at + 1}`, value: at }));
  const { text } = plot({ title: '<b>', unit: 'x', of: 'Day', bars });
  expect((text.match(/>d\d+</g) ?? []).length).toBeLessThanOrEqual(7);
  expect(text).not.toMatch(/<script|<b>/);
  expect(text).not.toMatch(/\sstyle=/);
});

test('a plot without bars is empty and has its axis', () => {
  expect(heights(plot({ title: 'None', unit: 'x', of: 'Day', bars: [] }).text)).toEqual([]);
});
