import { expect, test } from 'vitest';
import { recent } from './planned-sites.ts';

function counting(budget: number) {
  const made: string[] = [];
  const remember = recent<string>(budget, (value) => value.length);
  return { made, get: (key: string) => remember(key, async () => (made.push(key), key)) };
}

test('a value is made once, also when two ask at the same time', async () => {
  const { made, get } = counting(10);
  await Promise.all([get('a'), get('a')]);
  await get('a');
  expect(made).toEqual(['a']);
});

test('recently used values stay within the budget', async () => {
  const { made, get } = counting(4);
  for (const key of ['aa', 'bb', 'aa', 'cc', 'aa', 'bb']) await get(key);
  expect(made).toEqual(['aa', 'bb', 'cc', 'bb']);
});

test('a failure is not remembered', async () => {
  const remember = recent<string>(4);
  await expect(remember('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await remember('a', async () => 'here')).toBe('here');
});
