import { expect, test } from 'vitest';
import { formatBytes, formatDuration, formatNumber } from './format.ts';
import { ticksOf } from './timeline/timeline.ts';

test.each([
  [0, '0 s'],
  [80.4, '80 ms'],
  [3_240, '3.24 s'],
  [41_260, '41.3 s'],
  [125_900, '2 min 5 s'],
  [120_000, '2 min'],
  [3_840_000, '1 h 4 min'],
])('%d ms is %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

test.each([
  [812, '812 bytes'],
  [3_412_000, '3.4 MB'],
  [64_120_000, '64 MB'],
  [999_600, '1 MB'],
])('%d bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

test('numbers look the same on every machine', () => expect(formatNumber(12_345)).toBe('12,345'));

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
