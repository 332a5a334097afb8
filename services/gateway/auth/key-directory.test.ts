import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { KeyDocument } from '#shared/interfaces/read-models.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import { keyDirectory } from './key-directory.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A store that never answers. */
const silent = {
  get: () => new Promise(() => {}),
  watch: async function* () {
    await new Promise(() => {});
    yield* [];
  },
} as unknown as DocumentStore<KeyDocument>;

test('a request that joins an unanswered lookup has its own deadline', async () => {
  const stop = new AbortController();
  const clock = { now: () => new Date() };
  const keys = keyDirectory(silent, clock, pino({ level: 'silent' }), stop.signal);
  const outcomes: string[] = [];
  const find = (name: string) =>
    keys.find('0'.repeat(64)).catch((error: { code: string }) => outcomes.push(`${name}: ${error.code}`));
  void find('first');
  await vi.advanceTimersByTimeAsync(1_000);
  void find('second');
  await vi.advanceTimersByTimeAsync(5_500);
  expect(outcomes).toEqual(['first: unavailable']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(outcomes).toEqual(['first: unavailable', 'second: unavailable']);
  stop.abort();
});
