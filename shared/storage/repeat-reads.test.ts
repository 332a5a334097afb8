import { expect, test } from 'vitest';
import { type ObjectStore, ObjectStoreUnavailable } from './object-store.ts';
import { repeatReads } from './repeat-reads.ts';

const { signal } = new AbortController();
const policy = { firstPauseMs: 1, longestPauseMs: 1 };

/** A store that refuses the first reads of each kind. */
function refusing(times: number) {
  const asked = { get: 0, getStream: 0, head: 0 };
  const read = (kind: keyof typeof asked) => async () => {
    asked[kind] += 1;
    if (asked[kind] <= times) throw new ObjectStoreUnavailable('slow down');
    return undefined;
  };
  const store = { get: read('get'), getStream: read('getStream'), head: read('head') };
  return { store: store as unknown as ObjectStore, asked };
}

test('a read that is temporarily refused is repeated', async () => {
  const { store, asked } = refusing(3);
  const patient = repeatReads(store, policy, signal);
  expect(await Promise.all([patient.get('a'), patient.getStream('a'), patient.head('a')])).toHaveLength(3);
  expect(asked).toEqual({ get: 4, getStream: 4, head: 4 });
});

test('it is not repeated for longer than the policy says, nor after another error', async () => {
  const { store, asked } = refusing(3);
  const impatient = repeatReads(store, { ...policy, giveUpAfterMs: 0 }, signal);
  await expect(impatient.get('a')).rejects.toThrow(ObjectStoreUnavailable);
  expect(asked.get).toBe(1);
  const broken = { get: () => Promise.reject(new Error('no access')) } as unknown as ObjectStore;
  await expect(repeatReads(broken, policy, signal).get('a')).rejects.toThrow('no access');
});
