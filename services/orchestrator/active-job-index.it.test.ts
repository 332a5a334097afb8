import { afterEach, beforeEach, expect, test } from 'vitest';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { type ExportHarness, organization, startExportHarness } from '../../test/support/export-harness.ts';
import { leadingOrchestrator } from '../../test/support/leading-orchestrator.ts';

const filled = 'the index of active jobs was filled from the log';

describeWithServers(['nats-server'], 'the mark of a complete index of active jobs', () => {
  let harness: ExportHarness;
  let orchestrator: BusOf<'orchestrator'>;
  beforeEach(async () => {
    harness = await startExportHarness();
    orchestrator = await harness.bus.connect('orchestrator', 'test');
  });
  afterEach(() => harness.stop());

  /** Leads until the index is complete; returns the log lines. */
  async function leadOnce(): Promise<string[]> {
    const leader = await leadingOrchestrator(harness);
    await expect.poll(() => orchestrator.activeJobsMark.isSet()).toBe(true);
    await leader.stop();
    return leader.said.map(({ msg }) => msg);
  }
  const requestJob = async () => harness.request(await harness.publish([{ path: 'guides/page' }]));

  test('is in no list of the index, which earlier versions read as jobs, and is kept', async () => {
    const jobId = await requestJob();
    expect(await leadOnce()).toContain(filled);
    expect(await orchestrator.activeJobs.keys()).toEqual([jobStatusKey(organization, jobId)]);
    expect(await leadOnce()).not.toContain(filled);
  });

  test('replaces the document that was the mark of an earlier version, without filling the index again', async () => {
    const jobId = await requestJob();
    const key = jobStatusKey(organization, jobId);
    const createdAt = new Date().toISOString();
    const putFormer = () =>
      orchestrator.activeJobs.put('_index.complete', { organization: '_index', jobId: 'complete', createdAt });
    await orchestrator.activeJobs.put(key, { organization, jobId, createdAt });
    await putFormer();
    expect(await leadOnce()).not.toContain(filled);
    expect(await orchestrator.activeJobs.keys()).toEqual([key]);

    // The earlier version leads in between, and stores its mark again.
    await putFormer();
    expect(await leadOnce()).not.toContain(filled);
    await expect.poll(() => orchestrator.activeJobs.keys()).toEqual([key]);
  });
});
