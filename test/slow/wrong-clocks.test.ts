import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiClient } from '#services/cli/api-client.ts';
import { askQuestion } from '#services/cli/commands/ask.ts';
import {
  downloadVerified,
  followJob,
  signBundleLink,
  startExport,
  waitForExport,
} from '#services/cli/export-client.ts';
import { whenSearched } from '#services/cli/publish-project.ts';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { hourMs } from '#shared/runtime/time-and-ids.ts';
import { pause } from '../support/chaos/fault-injection.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { addOrganization, exportHistory, forgetSegments, type Organization } from '../support/installation-exports.ts';
import { newFolder } from '../support/new-folder.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';

const minuteMs = 60_000;
/** Number of pages, enough for several chunks. */
const pageCount = 150;
/** Offset of the clocks: more than the hour that an export may take, and than the lifetime of a link. */
const clocksAhead = {
  gateway: -3 * hourMs,
  orchestrator: 3 * hourMs,
  projector: -26 * hourMs,
  'link-signer': -5 * hourMs,
  'page-renderer': 7 * hourMs,
  bundler: -7 * hourMs,
  publisher: 2 * hourMs,
  indexer: -2 * hourMs,
  assistant: 4 * hourMs,
};

describeWithServers(['nats-server'], 'services whose clocks are hours apart', () => {
  let harness: TestInstallation;
  let site: Organization;
  let startedAt: number;
  let folder: string;

  /** Sets all clocks at once. */
  async function setClocks(ahead: Record<string, number>): Promise<void> {
    await writeFile(join(folder, 'next'), JSON.stringify(ahead));
    await rename(join(folder, 'next'), join(folder, 'clocks'));
  }

  beforeAll(async () => {
    folder = newFolder();
    await setClocks(clocksAhead);
    const preload = pathToFileURL(join(import.meta.dirname, '../support/shifted-clock.mjs'));
    preload.searchParams.set('file', join(folder, 'clocks'));
    harness = await startInstallation({
      environment: { NODE_OPTIONS: `--import ${preload.href}` },
      copies: { housekeeper: 0 },
    });
    startedAt = Date.now();
    site = await addOrganization(harness, 'Wrong clocks', pageCount);
  }, 3 * minuteMs);
  afterAll(() => harness?.stop());

  const isNow = (time: string | undefined) => {
    const at = Date.parse(time ?? '');
    return at > startedAt - minuteMs && at < Date.now() + minuteMs;
  };

  /** Checks that an export is completed: all its times are those of the bus, and its link works. */
  async function expectRight(job: ExportJob): Promise<void> {
    const { jobId } = job;
    expect(job).toMatchObject({ status: 'completed', pageCount });
    expect([job.createdAt, job.updatedAt, job.completedAt].filter((time) => !isNow(time))).toEqual([]);
    const { commits, problems } = await exportHistory(
      { installation: harness.installation, organization: site.organization },
      jobId,
    );
    expect(problems).toEqual([]);
    const times = commits.map(({ time }) => time);
    expect(times).toEqual(times.toSorted());

    const link = await signBundleLink(site.admin, jobId);
    expect(Date.parse(link.expiresAt)).toBeGreaterThan(Date.now());
    expect(await downloadVerified(link, join(folder, `${jobId}.tar.gz`))).toMatchObject({ problems: [] });
  }

  test('an export completes, all its times are those of the bus, and its link works', async () => {
    const { jobId } = await startExport(site.admin, { domain: site.domain });
    await expectRight(await waitForExport(site.admin, jobId, () => {}));
  });

  test.each([
    ['the other way', -1],
    ['back again', 1],
  ])('an export completes while all clocks jump by hours, %s', async (_where, sign) => {
    await forgetSegments(harness);
    // The renderer stands still until the clocks have jumped, however fast the machine is, so tasks are in flight during the jump.
    const renderer = pause(harness.installation.pids('page-renderer'));
    const { jobId } = await startExport(site.admin, { domain: site.domain });
    let renderedAtJump: number | undefined;
    let last: ExportJob | undefined;
    try {
      for await (const job of followJob(site.admin, jobId)) {
        if (renderedAtJump === undefined && job.pageTotal !== undefined) {
          renderedAtJump = job.pageCount;
          await setClocks(Object.fromEntries(Object.entries(clocksAhead).map(([name, ahead]) => [name, sign * ahead])));
          renderer.resume();
        }
        last = job;
      }
    } finally {
      renderer.resume();
    }
    expect(renderedAtJump).toBe(0);
    await expectRight(last as ExportJob);
  });

  test(
    'a key that lives for a day ends a day from now, and a question is answered',
    async () => {
      const { key, expiresAt } = await site.admin.json<{ key: string; expiresAt: string }>('/v1/api-keys', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: new Blob([JSON.stringify({ kind: 'admin', name: 'short', expiresInDays: 1 })]).stream(),
      });
      expect(isNow(new Date(Date.parse(expiresAt) - 24 * hourMs).toISOString())).toBe(true);
      const { jobs } = await apiClient(harness.installation.baseUrl, key).json<{ jobs: unknown[] }>(
        '/v1/static-export/jobs',
      );
      expect(jobs).not.toEqual([]);
      const content = await harness.publish(join(import.meta.dirname, '../../infra/docs'));
      await whenSearched(harness.admin, harness.domain, content.contentVersion);
      const reader = apiClient(harness.installation.baseUrl, harness.assistantKey);
      expect((await askQuestion(reader, harness.domain, 'What is a bundle?')).text).toContain('bundle');
    },
    3 * minuteMs,
  );
});
