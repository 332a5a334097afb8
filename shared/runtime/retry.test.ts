import { expect, test } from 'vitest';
import { ObjectStoreUnavailable } from '#shared/storage/object-store.ts';
import { whileUnavailable } from './retry.ts';

const open = new AbortController().signal;

test('a store that comes back is asked again', async () => {
  let calls = 0;
  const answer = await whileUnavailable(10_000, open, async () => {
    calls += 1;
    if (calls < 3) throw new ObjectStoreUnavailable('away');
    return 'here';
  });
  expect([answer, calls]).toEqual(['here', 3]);
});

test('one that stays away is given up', async () => {
  const away = async () => {
    throw new ObjectStoreUnavailable('away');
  };
  await expect(whileUnavailable(50, open, away)).rejects.toThrow('away');
});

test('other errors and the signal end it at once', async () => {
  const broken = async () => {
    throw new Error('broken');
  };
  await expect(whileUnavailable(10_000, open, broken)).rejects.toThrow('broken');
  await expect(whileUnavailable(10_000, AbortSignal.abort(new Error('stop')), broken)).rejects.toThrow('stop');
});
