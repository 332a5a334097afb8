import { afterAll, beforeAll, expect, test } from 'vitest';
import { startExport, waitForExport } from '#services/cli/export-client.ts';
import { jobPath } from '#services/cli/api-client.ts';
import { addOrganization, type Organization } from '../support/installation-exports.ts';
import { median, summaryOf, watchAnswers } from '../support/chaos/watch-answers.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';

const jobCount = Number(process.env.BINDERY_CHAOS_JOBS ?? 300);
const organizationCount = 5;
const requestsAtOnce = 16;
const pagesPerSite = 2;
const minuteMs = 60_000;

describeWithServers(['nats-server'], `${jobCount} small exports queued at once`, () => {
  let harness: TestInstallation;
  const organizations: Organization[] = [];

  beforeAll(async () => {
    const noLimit = '1000000';
    harness = await startInstallation({
      copies: exportPathOnly,
      environment: { BINDERY_LIMIT_STARTS_PER_HOUR: noLimit, BINDERY_LIMIT_ACTIVE_JOBS: noLimit },
    });
    for (let at = 0; at < organizationCount; at += 1) {
      organizations.push(await addOrganization(harness, `Organization ${at}`, pagesPerSite));
    }
  }, minuteMs);
  afterAll(() => harness?.stop());

  test(
    'all of them end, and a status is answered meanwhile',
    async () => {
      const [first] = organizations as [Organization];
      const { jobId: known } = await startExport(first.admin, { domain: first.domain });
      await waitForExport(first.admin, known, () => {});
      const address = `${harness.installation.baseUrl}${jobPath(known)}`;
      const idle = await answersWhile(address, first.adminKey, () => quiet(100));

      const startedAt = performance.now();
      const jobs: { organization: Organization; jobId: string }[] = [];
      const loaded = await answersWhile(address, first.adminKey, async () => {
        await inParallel(jobCount, async (at) => {
          const organization = organizations[at % organizations.length] as Organization;
          // Each job has a unique label, and so its own plan, closing segment and bundle.
          const { jobId } = await startExport(organization.admin, {
            domain: organization.domain,
            version: `label-${at}`,
          });
          jobs.push({ organization, jobId });
        });
        const queuedMs = performance.now() - startedAt;
        process.stdout.write(`${jobs.length} jobs accepted in ${(queuedMs / 1000).toFixed(1)} s\n`);
        // The jobs are awaited in the order of their requests, so most have ended before they are awaited.
        for (const { organization, jobId } of jobs) {
          const job = await waitForExport(organization.admin, jobId, () => {});
          expect(job).toMatchObject({ status: 'completed', pageCount: pagesPerSite });
        }
      });
      const seconds = (performance.now() - startedAt) / 1000;
      const [idleMs, loadedMs] = [median(idle.map(({ ms }) => ms)), median(loaded.map(({ ms }) => ms))];
      process.stdout.write(
        `${jobCount} jobs in ${seconds.toFixed(1)} s (${(jobCount / seconds).toFixed(1)} a second); a status takes ${(loadedMs / idleMs).toFixed(1)} times ` +
          `its idle time (medians ${loadedMs.toFixed(1)} and ${idleMs.toFixed(1)} ms; ${summaryOf(loaded)})\n`,
      );
      expect(new Set(loaded.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(jobs.map(({ jobId }) => jobId)).size).toBe(jobCount);

      /** Requests the status of a known job this number of times, while no job runs. */
      async function quiet(count: number): Promise<void> {
        for (let at = 0; at < count; at += 1) await first.admin.json(jobPath(known));
      }
    },
    15 * minuteMs,
  );
});

async function answersWhile(address: string, adminKey: string, work: () => Promise<void>) {
  const watch = watchAnswers(address, adminKey, 25);
  try {
    await work();
  } finally {
    await watch.stop();
  }
  return watch.stop();
}

async function inParallel(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: requestsAtOnce }, loop));
}
