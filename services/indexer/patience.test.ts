import { expect, test } from 'vitest';
import { patience } from './patience.ts';

test('a few pages that hang are tried with all their time, further ones of the organization are not', () => {
  const { lost, isSpent } = patience(() => 0);
  const tried = Array.from({ length: 8 }, () => {
    const before = isSpent('acme');
    lost('acme', 20_000);
    return before;
  });
  expect(tried).toEqual([false, false, false, false, false, true, true, true]);
  expect(isSpent('globex')).toBe(false);
});

test('lost time is forgiven', () => {
  const minute = 60_000;
  let at = 0;
  const { lost, isSpent } = patience(() => at);
  for (let page = 0; page < 1_000; page += 1) lost('acme', 20_000);
  at += 9 * minute;
  expect(isSpent('acme')).toBe(true);
  at += 2 * minute;
  expect(isSpent('acme')).toBe(false);
  lost('acme', 20_000);
  expect(isSpent('acme')).toBe(true);
});
