import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiFailure } from '#services/cli/api-client.ts';
import { waitForExport } from '#services/cli/export-client.ts';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { changedProject, type Contents, dice, firstProject } from '../support/changed-project.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { generatedFiles } from '../support/docs-projects.ts';
import { newFolder } from '../support/new-folder.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';

const changes = 50;

describeWithServers(['nats-server'], 'a project that is changed again and again', () => {
  let harness: TestInstallation;

  beforeAll(async () => {
    harness = await startInstallation({
      copies: exportPathOnly,
      environment: { BINDERY_LIMIT_STARTS_PER_HOUR: '100000', BINDERY_LIMIT_LINKS_PER_HOUR: '100000' },
    });
  });
  afterAll(() => harness?.stop());

  const replayed = async (jobId: string): Promise<ExportJob> => {
    const path = `/v1/static-export/jobs/${jobId}/replay`;
    const { jobId: replay } = await harness.admin.json<ExportJob>(path, { method: 'POST' });
    return waitForExport(harness.admin, replay, () => {});
  };

  test(`has the bytes of a cold export after each of ${changes} changes`, async () => {
    const folder = newFolder();
    const { 'docs.json': _, ...many } = generatedFiles('Large', 150);
    const roll = dice(7);
    let contents: Contents = { ...many, ...firstProject };
    let written: Contents = {};
    let exported = 0;
    for (let round = 0; exported < changes; round += 1) {
      await write(folder, written, contents);
      written = contents;
      contents = changedProject(contents, roll, round);
      const published = await harness.publish(folder).catch((error: unknown) => {
        // A random change may leave a project that cannot be published.
        if (error instanceof ApiFailure && error.status === 422) return undefined;
        throw error;
      });
      if (published === undefined) continue;
      const { job } = await harness.exportSite();
      const replay = await replayed(job.jobId);
      expect([round, replay.status, replay.digestMatch]).toEqual([round, 'completed', 'same']);
      exported += 1;
    }
  }, 900_000);
});

async function write(folder: string, before: Contents, after: Contents): Promise<void> {
  for (const path of Object.keys(before)) if (after[path] === undefined) await rm(join(folder, path));
  for (const [path, bytes] of Object.entries(after)) {
    if (before[path] === bytes) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
}
