import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { leadByTurns } from '#shared/messaging/leases.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { type ExportHarness, organization, startExportHarness } from '../../test/support/export-harness.ts';
import type { OrchestratorContext } from './context.ts';
import { lead } from './lead.ts';
import { workerPool } from './worker-pool.ts';

describeWithServers(['nats-server'], 'a second orchestrator', () => {
  let harness: ExportHarness;
  beforeAll(async () => {
    harness = await startExportHarness();
  });
  afterAll(() => harness?.stop());

  /** One that leads as the service does, but goes away without giving its lease back. */
  async function doomedOrchestrator() {
    const bus = await harness.bus.connect('orchestrator', 'doomed');
    const context: OrchestratorContext = {
      bus: {
        ...bus,
        leases: {
          acquire: async (role, holder, signal) => ({
            lost: (await bus.leases.acquire(role, holder, signal)).lost,
            release: async () => {},
          }),
        },
      },
      objectStore: harness.objectStore,
      clock: systemClock,
      logger: pino({ level: 'silent' }),
      random: randomBase62,
      instance: 'doomed',
      rendererVersion: await rendererVersion(),
      renderers: workerPool(systemClock),
      bundlers: workerPool(systemClock),
      taskLostAfterMs: 30_000,
      exportDeadlineMs: 60_000,
    };
    const stop = new AbortController();
    const role = { leases: context.bus.leases, role: 'orchestrator', holder: 'doomed', logger: context.logger };
    const leading = leadByTurns(role, (signal) => lead(context, signal), stop.signal);
    return async () => {
      stop.abort();
      await leading;
      await bus.close();
    };
  }

  test('takes over a planned job when the lease of the first has ended, and completes it', async () => {
    const vanish = await doomedOrchestrator();
    const contentVersion = await harness.publish(
      Array.from({ length: 150 }, (_, at) => ({ path: `guides/page-${at}` })),
    );
    const jobId = await harness.request(contentVersion);
    await harness.until(jobId, ({ data }) => data.state.phase === 'rendering');
    await vanish();

    await Promise.all([harness.start('page-renderer'), harness.start('bundler'), harness.start('orchestrator')]);
    const { source, data } = await harness.until(jobId, ({ data }) => data.state.phase === 'completed');
    expect(source).toMatch(/^orchestrator-/);
    expect(data.state).toMatchObject({ pageCount: 150, timedOutAttempts: {}, failedPageCount: 0 });
    const active = await harness.bus.connect('orchestrator', 'looking');
    await expect.poll(() => active.activeJobs.get(`${organization}.${jobId}`, { fromLeader: true })).toBeUndefined();
  });
});
