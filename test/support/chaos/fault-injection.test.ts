import { expect, test } from 'vitest';
import { seededRandom } from './fault-injection.ts';

const draws = (seed: number) => {
  const random = seededRandom(seed);
  return Array.from({ length: 1_000 }, () => random.between(1, 6));
};

test('a seed gives the same numbers each time, another seed others', () => {
  expect(draws(7)).toEqual(draws(7));
  expect(draws(7)).not.toEqual(draws(8));
});

test('every number of a range comes, and none outside', () => {
  expect(new Set(draws(1))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
});
