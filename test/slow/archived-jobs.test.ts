import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startExport, waitForExport } from '#services/cli/export-client.ts';
import { jobPath } from '#services/cli/api-client.ts';
import { archiveClosedJobs } from '#services/housekeeper/archive-closed-jobs.ts';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { testObjectStore } from '../support/test-object-store.ts';
import { addOrganization, type Organization } from '../support/installation-exports.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { housekeeperContext } from '../support/housekeeper-context.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';

const monthMs = 31 * 86_400_000;

describeWithServers(['nats-server'], 'a job whose history was moved to the archive', () => {
  let harness: TestInstallation;
  let site: Organization;
  let job: ExportJob;
  let before: { events: unknown; lines: string; first: unknown };

  beforeAll(async () => {
    harness = await startInstallation({ processes: 'shared', copies: exportPathOnly });
    site = await addOrganization(harness, 'Archived', 6);
    const { jobId } = await startExport(site.admin, { domain: site.domain }, 'the-key');
    job = await waitForExport(site.admin, jobId, () => {});
    before = await asked();
    await vi.waitUntil(async () => (await archived()) === 1, { timeout: 60_000, interval: 100 });
  }, 120_000);
  afterAll(() => harness?.stop());

  /** Archives as the housekeeper would in a month; returns the number of archived jobs. */
  async function archived(): Promise<number> {
    const { natsUrl: url, secrets } = harness.installation;
    const password = secrets.natsPasswords.housekeeper ?? '';
    const bus = await connectBus({ url, service: 'housekeeper', password, instance: 'in-a-month' });
    const folder = join(harness.folder, 'objects');
    const objectStore = testObjectStore(folder);
    try {
      const clock = { now: () => new Date(Date.now() + monthMs) };
      const signal = new AbortController().signal;
      return await archiveClosedJobs(housekeeperContext({ bus, objectStore, clock }), monthMs - 1_000, signal);
    } finally {
      await bus.close();
      await objectStore.close();
    }
  }

  async function asked(): Promise<typeof before> {
    const lines = await site.admin.raw(`${jobPath(job.jobId)}/events`, { headers: { accept: 'application/x-ndjson' } });
    return {
      events: await site.admin.json(`${jobPath(job.jobId)}/events`),
      lines: await lines.text(),
      first: await site.admin.json(`${jobPath(job.jobId)}?at=1`),
    };
  }

  test('is shown as before: its status, its events as JSON and as lines, and its earlier states', async () => {
    expect(await site.admin.json(jobPath(job.jobId))).toEqual(job);
    expect(await asked()).toEqual(before);
    expect(before.first).toMatchObject({ status: 'queued', revision: 1 });
  });

  test('has its bundle', async () => {
    expect(await site.admin.json(`${jobPath(job.jobId)}/bundle`, { method: 'POST' })).toMatchObject({
      jobId: job.jobId,
    });
  });

  test('is still the job of its idempotency key', async () => {
    expect(await startExport(site.admin, { domain: site.domain }, 'the-key')).toEqual(job);
    await expect(startExport(site.admin, { domain: site.domain, version: 'v2' }, 'the-key')).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  test('cannot be cancelled, and is replayed to the same bytes', async () => {
    await expect(site.admin.json(`${jobPath(job.jobId)}/cancel`, { method: 'POST' })).rejects.toMatchObject({
      code: 'job_ended',
    });
    const replay = await site.admin.json<ExportJob>(`${jobPath(job.jobId)}/replay`, { method: 'POST' });
    const done = await waitForExport(site.admin, replay.jobId, () => {});
    expect(done).toMatchObject({ replayOf: job.jobId, digestMatch: 'same' });
  });

  test('is unknown to others', async () => {
    await expect(harness.admin.json(jobPath(job.jobId))).rejects.toMatchObject({ code: 'not_found' });
  });
});
