import { expect, test } from 'vitest';
import { Unavailable } from './failures.ts';
import { pauseAfter, retryUnavailable } from './retry.ts';

const open = new AbortController().signal;
const policy = { firstPauseMs: 20, longestPauseMs: 50, giveUpAfterMs: 10_000 };

test('the pauses double up to the longest', () => {
  expect([1, 2, 3, 4, 90].map((failedTries) => pauseAfter(failedTries, policy))).toEqual([20, 40, 50, 50, 50]);
});

test('a system that comes back is asked again', async () => {
  let calls = 0;
  const answer = await retryUnavailable(policy, open, async () => {
    calls += 1;
    if (calls < 3) throw new Unavailable('away');
    return 'here';
  });
  expect([answer, calls]).toEqual(['here', 3]);
});

test('one that stays away is given up', async () => {
  const away = async () => {
    throw new Unavailable('away');
  };
  await expect(retryUnavailable({ ...policy, giveUpAfterMs: 50 }, open, away)).rejects.toThrow('away');
});

test('other errors and the signal end it at once', async () => {
  const broken = async () => {
    throw new Error('broken');
  };
  const retried: Error[] = [];
  await expect(retryUnavailable(policy, open, broken, (error) => retried.push(error))).rejects.toThrow('broken');
  expect(retried).toEqual([]);
  await expect(retryUnavailable(policy, AbortSignal.abort(new Error('stop')), broken)).rejects.toThrow('stop');
});
