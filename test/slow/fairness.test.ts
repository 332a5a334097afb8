import { afterAll, beforeAll, expect, test } from 'vitest';
import { startExport, waitForExport } from '#services/cli/export-site.ts';
import type { ExportJob } from '#shared/contracts/http/export-job.ts';
import { addOrganization, type Organization } from '../support/chaos/add-organization.ts';
import { forgetSegments } from '../support/chaos/forget-segments.ts';
import { median } from '../support/chaos/watch-answers.ts';
import { isUnderWay, whenJob } from '../support/chaos/when-job.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';

const largePages = 2_000;
const smallPages = 20;
const smallCount = 10;
const minuteMs = 60_000;

describeWithServers(
  ['nats-server'],
  `an export of ${largePages} pages with ${smallCount} of ${smallPages} pages beside it`,
  () => {
    let stand: TestInstallation;
    let large: Organization;
    const small: Organization[] = [];

    beforeAll(async () => {
      stand = await startInstallation({ copies: exportPathOnly });
      for (let at = 0; at < smallCount; at += 1) small.push(await addOrganization(stand, `Small ${at}`, smallPages));
      large = await addOrganization(stand, 'Large', largePages);
    }, 3 * minuteMs);
    afterAll(() => stand?.stop());

    test(
      'every small one ends before the large one, which came first',
      async () => {
        // The first export of a process also loads and compiles; it is not counted.
        await exported(small[0] as Organization);
        await forgetSegments(stand);
        const idle: number[] = [];
        for (const organization of small) idle.push(durationMs(await exported(organization)));
        await forgetSegments(stand);

        const { jobId } = await startExport(large.admin, { domain: large.domain });
        await whenJob(large.admin, jobId, isUnderWay);
        const beside = await Promise.all(small.map(exported));
        const largeJob = await waitForExport(large.admin, jobId, () => {});
        const ratio = median(beside.map(durationMs)) / median(idle);
        process.stdout.write(
          `small exports, seconds: idle ${shown(idle)}; all at once beside the large one ${shown(beside.map(durationMs))}; ratio of the medians ${ratio.toFixed(2)}\n`,
        );
        const overtaken = beside.filter((job) => endOf(job) < endOf(largeJob));
        expect(overtaken).toHaveLength(smallCount);
      },
      5 * minuteMs,
    );
  },
);

async function exported({ admin, domain }: Organization): Promise<ExportJob> {
  const { jobId } = await startExport(admin, { domain });
  return waitForExport(admin, jobId, () => {});
}

const endOf = (job: ExportJob): number => Date.parse(job.completedAt ?? job.updatedAt);

/** From the request to the last commit, as the job itself says. */
const durationMs = (job: ExportJob): number => endOf(job) - Date.parse(job.createdAt);

const shown = (durations: readonly number[]): string => durations.map((ms) => (ms / 1000).toFixed(2)).join(' ');
