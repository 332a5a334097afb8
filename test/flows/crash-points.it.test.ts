import { mkdtemp } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { CrashPoint } from '#shared/lifecycle/crash-point.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { largestProject } from '../support/largest-project.ts';
import { exportPathOnly, startInstallation } from '../support/start-installation.ts';

/** Every place at which a service of the export path can be made to die, and which service dies there. */
const deaths: [CrashPoint, string][] = [
  ['after-request-append', 'gateway'],
  ['after-plan-object', 'orchestrator'],
  ['after-plan-commit', 'orchestrator'],
  ['after-task-publish', 'orchestrator'],
  ['after-completed', 'orchestrator'],
  ['after-segment-put', 'page-renderer'],
  ['after-sidecar-put', 'page-renderer'],
  ['after-fact', 'page-renderer'],
  ['before-ack', 'page-renderer'],
  ['mid-upload', 'bundler'],
  ['after-upload', 'bundler'],
  ['after-bundle-fact', 'bundler'],
  ['before-ack', 'bundler'],
];

const deadlineMs = 180_000;

describeWithServers(['nats-server'], `an export of ${largestProject.name} when a service is killed`, () => {
  let undisturbed = '';

  beforeAll(async () => {
    const stand = await startInstallation({ copies: exportPathOnly });
    try {
      await stand.publish(largestProject.folder);
      const { link } = await stand.exportSite();
      undisturbed = link.sha256;
    } finally {
      await stand.stop();
    }
  }, deadlineMs);

  test.each(deaths)(
    'at %s, the %s dies: the job completes with the digest of an undisturbed run',
    async (point, service) => {
      const onceFile = join(await mkdtemp(join(tmpdir(), 'bindery-crash-')), 'died');
      const stand = await startInstallation({
        copies: exportPathOnly,
        environment: { CRASH_AT: `${point}@${service}`, CRASH_ONCE_FILE: onceFile },
      });
      try {
        await stand.publish(largestProject.folder);
        const { link, job } = await stand.exportSite();
        expect(existsSync(onceFile), `nothing died at ${point}`).toBe(true);
        expect(stand.news.filter((line) => line.startsWith(service))).toHaveLength(1);
        expect(job.pageCount).toBe(job.pageTotal);
        expect(link.sha256).toBe(undisturbed);
      } finally {
        await stand.stop();
      }
    },
    deadlineMs,
  );
});
