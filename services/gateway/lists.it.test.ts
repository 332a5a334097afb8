import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { BusOf } from '#shared/messaging/bus.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { exportCommit, exportRequested, exportState } from '../../test/support/make-commit.ts';
import { runProjections } from '../../test/support/run-projections.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';
import { listAudit } from './audit/list-audit.ts';
import { listJobs } from './exports/list-jobs.ts';

const jobCount = 30;

describeWithServers(['nats-server'], 'lists over a real bus', () => {
  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let end: () => Promise<void>;

  beforeAll(async () => {
    stand = await startTestBus();
    gateway = await stand.connect('gateway');
    end = runProjections(await stand.connect('projector'));
    for (let n = 0; n < jobCount; n += 1) {
      const jobId = `se_${String(n).padStart(22, '0')}`;
      const createdAt = new Date(Date.parse('2026-03-01T10:00:00.000Z') + n * 3_600_000).toISOString();
      const state = exportState({ jobId, createdAt });
      await gateway.exports.append(exportCommit(state, undefined, [exportRequested({ jobId })]), { sequence: 0 });
    }
  });
  afterAll(async () => {
    await end();
    await stand.stop();
  });

  test('are read by key: a gateway may make no consumer for them', async () => {
    const context = { bus: gateway, clock: systemClock, config: { hashKey: 'the-hash-key-of-tests' } };
    await vi.waitFor(async () => {
      expect((await listJobs(context, 'acme', { domain: undefined, limit: 100 })).jobs).toHaveLength(jobCount);
    }, 60_000);
    const first = await listJobs(context, 'acme', { domain: undefined, limit: 8 });
    expect(first.jobs.map(({ createdAt }) => createdAt)).toEqual(
      first.jobs.map(({ createdAt }) => createdAt).toSorted((a, b) => (a < b ? 1 : -1)),
    );
    const { entries } = await listAudit(context, 'acme', {} as never, 500);
    expect(entries).toHaveLength(jobCount);
    for (const store of [gateway.readModels.jobList, gateway.readModels.auditExports]) {
      await expect(store.keys('acme.*')).rejects.toThrow(/no right/);
    }
  });
});
