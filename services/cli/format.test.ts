import { expect, test } from 'vitest';
import { formatBytes, formatDuration, formatNumber } from '#shared/runtime/figures.ts';

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
