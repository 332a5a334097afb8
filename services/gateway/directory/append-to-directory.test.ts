import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createOrganization } from '#shared/aggregates/directory/decide.ts';
import { memoryBus } from '../../../test/support/memory-bus.ts';
import { appendToDirectory } from './append-to-directory.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a slow read takes nothing from the time of the write: the client never hears "unavailable" of what was stored', async () => {
  const bus = memoryBus();
  const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const log = bus.directory;
  bus.directory = {
    ...log,
    last: async (subject, options) => {
      await after(5_000);
      return log.last(subject, options);
    },
    append: async (commit, known) => {
      await after(9_000);
      return log.append(commit, known);
    },
  };
  bus.readModels.directoryOrganizations.get = async (key) => ({ key, document: { revision: 1 } as never, revision: 1 });
  const origin = {
    actor: { kind: 'operator' as const, id: 'operator' },
    requestId: 'req_1',
    traceparent: '',
    address: '192.0.2.1',
  };
  const key = { id: 'key_0000000000000000', kind: 'admin' as const, name: '', sha256: '0'.repeat(64) };
  const apiKey = {
    ...key,
    scopes: [],
    allowedAddresses: [],
    allowedOrigins: [],
    createdAt: '2026-03-01T10:00:00.000Z',
  };
  const outcome = appendToDirectory(
    {
      bus,
      clock: { now: () => new Date('2026-03-01T10:00:00.000Z') },
      random: (length) => 'r'.repeat(length),
      config: { hashKey: 'the-hash-key-of-tests' },
    },
    'acme',
    (state) => createOrganization(state, 'acme', { name: 'Acme', plan: 'free' }, apiKey),
    origin,
  ).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await outcome).toMatchObject({ name: 'Acme' });
});
