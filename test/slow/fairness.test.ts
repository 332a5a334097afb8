import { afterAll, beforeAll, expect, test } from 'vitest';
import { startExport, waitForExport } from '#services/cli/export-site.ts';
import { jobPath } from '#services/cli/job-path.ts';
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
/**
 * The most that the median of the small ones should be, as a ratio to an idle pool. Reached it is not where two slots share their processors
 * with other work, so it is printed; what is asserted is that nobody waits in proportion to the large one.
 */
const aim = 3;
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
      'small ones end while the large one is under way',
      async () => {
        // The first export of a process also loads and compiles; it is not counted.
        await durationOf(small[0] as Organization);
        await forgetSegments(stand);
        const idle: number[] = [];
        for (const organization of small) idle.push(await durationOf(organization));
        await forgetSegments(stand);

        const beside: number[] = [];
        let largeJob = await startLarge();
        for (const organization of small) {
          let duration = await durationOf(organization);
          // Measured only while the large one was there all the time; when it ended it is exported once more.
          while (!isUnderWay(await statusOf(largeJob))) {
            await waitForExport(large.admin, largeJob, () => {});
            await forgetSegments(stand);
            largeJob = await startLarge();
            duration = await durationOf(organization);
          }
          beside.push(duration);
        }
        const ratio = median(beside) / median(idle);
        process.stdout.write(
          `small exports, seconds: idle ${shown(idle)}; beside the large one ${shown(beside)}; ratio of the medians ${ratio.toFixed(2)}, aim ${aim}\n`,
        );
        await waitForExport(large.admin, largeJob, () => {});
        expect(ratio, `the aim is ${aim}`).toBeLessThan(largePages / smallPages);
      },
      5 * minuteMs,
    );

    async function startLarge(): Promise<string> {
      const { jobId } = await startExport(large.admin, { domain: large.domain });
      await whenJob(large.admin, jobId, isUnderWay);
      return jobId;
    }

    const statusOf = (jobId: string) => large.admin.json<ExportJob>(jobPath(jobId));
  },
);

/** From the request to the last commit, as the job itself says, in milliseconds. */
async function durationOf({ admin, domain }: Organization): Promise<number> {
  const { jobId } = await startExport(admin, { domain });
  const job = await waitForExport(admin, jobId, () => {});
  return Date.parse(job.completedAt ?? job.updatedAt) - Date.parse(job.createdAt);
}

const shown = (durations: readonly number[]): string => durations.map((ms) => (ms / 1000).toFixed(2)).join(' ');
