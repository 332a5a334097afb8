import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { type ExportHarness, organization, startExportHarness } from '../../test/support/export-harness.ts';
import { leadingOrchestrator } from '../../test/support/leading-orchestrator.ts';

describeWithServers(['nats-server'], 'a second orchestrator', () => {
  let harness: ExportHarness;
  beforeAll(async () => {
    harness = await startExportHarness();
  });
  afterAll(() => harness?.stop());

  test('takes over a planned job when the lease of the first has ended, and completes it', async () => {
    const doomed = await leadingOrchestrator(harness, { vanishes: true });
    const contentVersion = await harness.publish(
      Array.from({ length: 150 }, (_, at) => ({ path: `guides/page-${at}` })),
    );
    const jobId = await harness.request(contentVersion);
    const { source: first } = await harness.until(jobId, ({ data }) => data.state.phase === 'rendering');
    await doomed.stop();

    await Promise.all([harness.start('page-renderer'), harness.start('bundler'), harness.start('orchestrator')]);
    const { source, data } = await harness.until(jobId, ({ data }) => data.state.phase === 'completed');
    expect(source).toMatch(/^orchestrator-/);
    expect(source).not.toBe(first);
    expect(data.state).toMatchObject({ pageCount: 150, timedOutAttempts: {}, failedPageCount: 0 });
    const active = await harness.bus.connect('orchestrator', 'looking');
    await expect.poll(() => active.activeJobs.get(`${organization}.${jobId}`, { fromLeader: true })).toBeUndefined();
  });
});
