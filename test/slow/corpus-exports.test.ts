import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { downloadVerified } from '#services/cli/export-client.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { corpusFolder } from '../support/docs-projects.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';

const minuteMs = 60_000;

describe.skipIf(!existsSync(corpusFolder))('real projects', () => {
  describeWithServers(['nats-server'], 'published and exported', () => {
    let harness: TestInstallation;

    beforeAll(async () => {
      harness = await startInstallation({ copies: exportPathOnly });
    }, minuteMs);
    afterAll(() => harness?.stop());

    test.each(['turso-docs', 'fastmcp'])(
      '%s has no failed page',
      async (project) => {
        const publication = await harness.publish(join(corpusFolder, project));
        const { job, link } = await harness.exportSite({ version: project });
        expect(job).toMatchObject({
          status: 'completed',
          pageCount: publication.pages,
          contentVersion: publication.contentVersion,
        });
        const file = join(harness.folder, `${project}.tar.gz`);
        expect((await downloadVerified(link, file)).problems).toEqual([]);
      },
      5 * minuteMs,
    );
  });
});
