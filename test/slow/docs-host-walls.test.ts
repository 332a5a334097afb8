import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { downloadVerified } from '#services/cli/export-client.ts';
import { describeWithServers, skipSuite } from '../support/describe-with-servers.ts';
import { corpusFolder, largestProject, mediumProject } from '../support/docs-projects.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';

/** Output of `visit-pages.ts`. */
export type VisitedSite = {
  /** `open`, or the reason that the Internet cannot be reached. */
  wayOut: string;
  /** Number of opened pages that had a title. */
  pages: number;
  requests: number;
  /** Requests to other servers than the host. */
  elsewhere: string[];
  failed: string[];
};

const minuteMs = 60_000;
const pagesToVisit = 30;
const title = 'the bundle of a large project, served by a host in a network without a way out';

/** Beginnings of commands that run another command in a network without other machines. Users other than root need a user namespace for that. */
const walls = [['-n'], ['-rn']]
  .map((flags) => ['unshare', ...flags, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'])
  .find(([program = '', ...args]) => spawnSync(program, [...args, 'true']).status === 0);

const reason = !existsSync(corpusFolder)
  ? `${corpusFolder} is not here`
  : walls === undefined
    ? 'networks without a way out are not permitted here (unshare -n, ip)'
    : undefined;

function suite(): void {
  let harness: TestInstallation;

  beforeAll(async () => {
    harness = await startInstallation({ copies: exportPathOnly });
  }, 5 * minuteMs);
  afterAll(() => harness?.stop());

  test.each([
    ['air-gapped', largestProject],
    ['client-hosted', mediumProject],
    ['cloud', mediumProject],
  ] as const)(
    `as %s: Chromium opens ${pagesToVisit} pages, and the host answers each request`,
    { timeout: 8 * minuteMs },
    async (deployment, project) => {
      await harness.publish(project.folder);
      const { link } = await harness.exportSite({ deployment });
      const folder = join(harness.folder, deployment);
      await mkdir(folder);
      const file = join(folder, 'site.tar.gz');
      expect((await downloadVerified(link, file)).problems).toEqual([]);
      const [program = '', ...args] = walls ?? [];
      const visit = spawnSync(
        program,
        [...args, process.execPath, join(import.meta.dirname, 'visit-pages.ts'), String(pagesToVisit)],
        {
          encoding: 'utf8',
          env: {
            ...process.env,
            BINDERY_DATA: folder,
            BINDERY_BUNDLE_PATH: file,
            BINDERY_STATIC_EXPORT_SHA256: link.sha256,
            BINDERY_DOCS_HOST_PORT: '0',
            BINDERY_LOG_LEVEL: 'warn',
          },
        },
      );
      expect([visit.status, visit.stderr]).toEqual([0, '']);
      const visited = JSON.parse(visit.stdout.trim().split('\n').at(-1) ?? '') as VisitedSite;
      process.stdout.write(`${deployment}: ${visited.pages} pages, ${visited.requests} requests\n`);
      expect(visited).toMatchObject({ wayOut: 'ENETUNREACH', pages: pagesToVisit });
      // Pages of the other types may show pictures and videos of other sites, which cannot be reached here.
      const ofHost = visited.failed.filter((line) => !visited.elsewhere.some((url) => line.endsWith(url)));
      expect(ofHost).toEqual([]);
      if (deployment === 'air-gapped') expect(visited).toMatchObject({ elsewhere: [], failed: [] });
    },
  );
}

if (reason === undefined) describeWithServers(['nats-server', 'chromium'], title, suite);
else skipSuite(title, reason, suite);
