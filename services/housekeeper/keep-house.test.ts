import pino from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { keepHouse, roundDelayMs } from './keep-house.ts';

const hourMs = 3_600_000;
let outcomes: string[];
beforeEach(() => {
  outcomes = [];
});

/** Runs until `stop` aborts, which happens after `rounds` rounds; returns the chores in order. */
async function keep(chores: Record<string, () => Promise<void>>, rounds: number, stop = new AbortController()) {
  const done: string[] = [];
  let waits = 0;
  const keeping = keepHouse(
    {
      logger: pino({ level: 'silent' }),
      chores: Object.entries(chores).map(([name, run]) => ({
        name,
        run: async () => {
          done.push(name);
          await run();
        },
      })),
      everyMs: 6 * hourMs,
      random: () => 0.5,
      onOutcome: (chore, outcome) => void outcomes.push(`${chore} ${outcome}`),
      wait: async (ms, signal) => {
        done.push(`wait ${ms / 1000} s`);
        waits += 1;
        if (waits > rounds) stop.abort();
        signal.throwIfAborted();
      },
    },
    stop.signal,
  );
  const ended: unknown = await keeping.catch((error: unknown) => error);
  expect(ended).toBe(stop.signal.reason);
  return done;
}
const nothing = async () => {};

test('the first round begins soon, the next ones by the setting', async () => {
  expect(await keep({ a: nothing, b: nothing }, 2)).toEqual([
    'wait 60 s',
    'a',
    'b',
    'wait 21600 s',
    'a',
    'b',
    'wait 21600 s',
  ]);
});

test('a chore that fails does not keep the others from being done', async () => {
  const fail = () => Promise.reject(new Error('the store is away'));
  expect((await keep({ a: fail, b: nothing }, 1)).slice(0, 3)).toEqual(['wait 60 s', 'a', 'b']);
  expect(outcomes).toEqual(['a failed', 'b done']);
});

test('a housekeeper that loses the lease does nothing more', async () => {
  const lost = new AbortController();
  const lose = async () => lost.abort(new Error('another holder has it'));
  expect(await keep({ a: lose, b: nothing }, 1, lost)).toEqual(['wait 60 s', 'a']);
});

test('rounds of installations that started together drift apart', () => {
  expect([0, 1].map((random) => roundDelayMs(1, 6 * hourMs, random))).toEqual([30_000, 90_000]);
  expect([0, 1].map((random) => roundDelayMs(2, 10 * hourMs, random) / hourMs)).toEqual([9, 11]);
});
