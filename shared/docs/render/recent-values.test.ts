import { expect, test } from 'vitest';
import { RecentValues } from './recent-values.ts';

test('what was made is given again, and what is held stays bounded', () => {
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
