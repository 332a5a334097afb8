import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { commonRuns, RunningSum } from './common-pieces.ts';

const runs = (values: string, others: string) => commonRuns(values.split(''), others.split(''));

test.each([
  ['abc', 'abc', [{ begin: 0, end: 3, at: 0 }]],
  ['abc', '', [{ begin: 0, end: 3 }]],
  ['', 'abc', []],
  [
    'aXbc',
    'abc',
    [
      { begin: 0, end: 1, at: 0 },
      { begin: 1, end: 2 },
      { begin: 2, end: 4, at: 1 },
    ],
  ],
  [
    'ca',
    'abc',
    [
      { begin: 0, end: 1, at: 2 },
      { begin: 1, end: 2, at: 0 },
    ],
  ],
  [
    'aab',
    'ab',
    [
      { begin: 0, end: 1, at: 0 },
      { begin: 1, end: 3, at: 0 },
    ],
  ],
])('runs of %s in %s', (values, others, expected) => expect(runs(values, others)).toEqual(expected));

test('a value that comes twice continues the run in which it is', () => {
  expect(runs('xaya', 'xaya')).toEqual([{ begin: 0, end: 4, at: 0 }]);
});

test.each([0, 1, 4 * 1024 * 1024, 9_000_000])('the sum of %i bytes is that of SHA-256', (length) => {
  const bytes = randomBytes(length);
  const expected = createHash('sha256').update(bytes).digest('hex');
  const summed = (parts: readonly Uint8Array[]) => {
    const sum = new RunningSum();
    for (const part of parts) sum.add(part);
    expect(sum.sizeBytes).toBe(length);
    return sum;
  };
  const middle = Math.floor(length / 3);
  expect(summed([bytes.subarray(0, middle), bytes.subarray(middle)]).is(expected)).toBe(true);
  expect(summed([bytes]).is('0'.repeat(64))).toBe(false);
});
