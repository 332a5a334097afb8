import { expect, test } from 'vitest';
import { RecentValues } from './recent-values.ts';

test('values are reused, and the cache stays bounded', () => {
  const recent = new RecentValues<number>(10_000);
  let made = 0;
  const get = (key: string): number => recent.get(key, () => (made += 1));
  expect([get('a'), get('a'), get('b')]).toEqual([1, 1, 2]);
  const long = 'x'.repeat(1_000);
  expect([get(long), get(long), get('a')]).toEqual([3, 4, 1]);
  for (let at = 0; at < 100; at += 1) get(`other ${at}`);
  const before = made;
  get('a');
  expect(made).toBe(before + 1);
});

test('with fromSecond, keys that come once are not kept', () => {
  const recent = new RecentValues<number>(10_000, { fromSecond: true });
  let made = 0;
  const get = (key: string): number => recent.get(key, () => (made += 1));
  expect([get('a'), get('b'), get('a'), get('a'), get('a')]).toEqual([1, 2, 3, 3, 3]);
  // Similar keys have different values.
  const long = 'x'.repeat(64);
  const alike = [`${long}a${long}`, `${long}b${long}`].map((key) => [get(key), get(key), get(key)]);
  expect(new Set(alike.flat()).size).toBeGreaterThanOrEqual(2);
  expect(alike[0]?.[2]).not.toBe(alike[1]?.[2]);
});
