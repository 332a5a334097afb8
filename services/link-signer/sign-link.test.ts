import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { hungCall } from '../../test/support/hung-call.ts';
import { exportCommit, exportState, testCaller } from '../../test/support/make-commit.ts';
import { type MemoryBus, memoryBus } from '../../test/support/memory-bus.ts';
import { type LinkSignerParts, signLink } from './sign-link.ts';

const sha256 = 'ab'.repeat(32);
const bundle = { key: 'bundles/acme/docs/x.tar.gz', sizeBytes: 7, sha256 };
const { jobId } = exportState();
const caller = testCaller;

let bus: MemoryBus;
let steps: string[];
let parts: LinkSignerParts;

beforeEach(() => {
  bus = memoryBus();
  steps = [];
  parts = {
    bus,
    clock: { now: () => new Date('2026-03-01T10:00:00.000Z') },
    linkLifetimeSeconds: 3600,
    objectStore: {
      head: async () => ({ sizeBytes: 7, modifiedAt: new Date(0), metadata: { sha256 } }),
      presign: async (key, { lifetimeSeconds }) => {
        steps.push(`presign ${key} ${lifetimeSeconds}`);
        return { url: 'https://store.test/x', expiresAt: new Date('2026-03-01T11:00:00.250Z') };
      },
    },
  };
});

const job = (state: Partial<ExportJobState>) => bus.exports.append(exportCommit(exportState(state)), { sequence: 0 });

test('the access is recorded before anyone has the link', async () => {
  await job({ phase: 'completed', bundle });
  expect(await signLink(parts, caller, { jobId })).toEqual({
    jobId,
    bundleUrl: 'https://store.test/x',
    expiresAt: '2026-03-01T11:00:00.250Z',
    sizeBytes: 7,
    sha256,
  });
  expect(steps).toEqual(['presign bundles/acme/docs/x.tar.gz 3600']);
  expect(bus.recorded.access).toMatchObject([
    {
      jobId,
      organization: 'acme',
      actor: caller.actor,
      address: '192.0.2.1',
      requestId: 'req_1',
      bundleSha256: sha256,
    },
  ]);
});

test('a host of sites also gets a link to the pieces, with digests from the log', async () => {
  const [piecesSha256, manifestSha256] = ['cd'.repeat(32), 'ef'.repeat(32)];
  await job({ phase: 'completed', bundle: { ...bundle, piecesSha256 }, manifestSha256 });
  const { pieces } = await signLink(parts, caller, { jobId, withPieces: true });
  expect(pieces).toEqual({ url: 'https://store.test/x', sha256: piecesSha256, manifestSha256 });
  expect(steps).toEqual([`presign ${bundle.key} 3600`, `presign ${bundle.key}.pieces 3600`]);
  expect(await signLink(parts, caller, { jobId })).not.toHaveProperty('pieces');
});

test('a bundle of an older version has no pieces', async () => {
  await job({ phase: 'completed', bundle, manifestSha256: 'ef'.repeat(32) });
  expect(await signLink(parts, caller, { jobId, withPieces: true })).not.toHaveProperty('pieces');
});

test('no link is given out if the access cannot be recorded', async () => {
  await job({ phase: 'completed', bundle });
  bus.access.record = async () => {
    throw new Error('the bus is full');
  };
  await expect(signLink(parts, caller, { jobId })).rejects.toThrow('the bus is full');
});

test('a store that does not answer is a system that is down', async () => {
  await job({ phase: 'completed', bundle });
  parts.objectStore.head = (_key, options) => hungCall(options);
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  await Promise.all([
    expect(signLink(parts, caller, { jobId })).rejects.toBeInstanceOf(Unavailable),
    vi.advanceTimersByTimeAsync(5_000),
  ]);
  expect(bus.recorded.access).toEqual([]);
});

test.each([
  ['a job that is being rendered', { phase: 'rendering' }, 'not_completed'],
  ['a job that failed', { phase: 'failed', error: 'Page x.' }, 'not_completed'],
  ['a job that was cancelled', { phase: 'cancelled', error: 'Cancelled.' }, 'not_completed'],
] as const)('%s has no bundle', async (_name, state, code) => {
  await job(state);
  await expect(signLink(parts, caller, { jobId })).rejects.toMatchObject({ code });
  expect(bus.recorded.access).toEqual([]);
});

test("another organization's job is not found", async () => {
  await job({ phase: 'completed', bundle });
  await expect(signLink(parts, { ...caller, organization: 'other' }, { jobId })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('a bundle that was removed is not found, and says how to get it again', async () => {
  await job({ phase: 'completed', bundle });
  parts.objectStore.head = async () => undefined;
  await expect(signLink(parts, caller, { jobId })).rejects.toThrow('Replay the job');
});
