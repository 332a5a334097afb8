import { expect, test } from 'vitest';
import { takeTurns } from './take-turns.ts';

test('owners take turns, whatever one of them has waiting', async () => {
  const inTurn = takeTurns(1);
  const order: string[] = [];
  const work = (owner: string, name: string) => inTurn(owner, async () => void order.push(name));
  await Promise.all([
    ...Array.from({ length: 4 }, (_, at) => work('many', `many ${at}`)),
    work('few', 'few'),
    work('other', 'other'),
  ]);
  expect(order).toEqual(['many 0', 'many 1', 'few', 'other', 'many 2', 'many 3']);
});

test('as many as there are places run at once, and work that fails gives its place back', async () => {
  const inTurn = takeTurns(2);
  let running = 0;
  let most = 0;
  const work = (isBad: boolean) =>
    inTurn('one', async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (isBad) throw new Error('bad');
    });
  const ended = await Promise.allSettled(Array.from({ length: 10 }, (_, at) => work(at % 2 === 0)));
  expect(ended.filter(({ status }) => status === 'rejected')).toHaveLength(5);
  await work(false);
  expect([most, running]).toEqual([2, 0]);
});
