import { afterAll, beforeAll, expect, test } from 'vitest';
import { startExport, waitForExport } from '#services/cli/export-client.ts';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { median } from '../support/chaos/watch-answers.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import {
  addOrganization,
  forgetSegments,
  isUnderWay,
  type Organization,
  whenJob,
} from '../support/installation-exports.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';

const largePages = 4_000;
const smallPages = 20;
const smallCount = 10;
const minuteMs = 60_000;

describeWithServers(
  ['nats-server'],
  `an export of ${largePages} pages with ${smallCount} of ${smallPages} pages beside it`,
  () => {
    let harness: TestInstallation;
    let large: Organization;
    const small: Organization[] = [];

    beforeAll(async () => {
      harness = await startInstallation({ copies: exportPathOnly });
      for (let at = 0; at < smallCount; at += 1) small.push(await addOrganization(harness, `Small ${at}`, smallPages));
      large = await addOrganization(harness, 'Large', largePages);
    }, 3 * minuteMs);
    afterAll(() => harness?.stop());

    test(
      'that arrive one after the other take at most three times as long as on an idle pool',
      async () => {
        // The first export of a process also loads and compiles; it is not counted.
        await exported(small[0] as Organization);
        await forgetSegments(harness);
        const idle: number[] = [];
        for (const organization of small) idle.push(durationMs(await exported(organization)));
        await forgetSegments(harness);

        const { jobId } = await startExport(large.admin, { domain: large.domain });
        await whenJob(large.admin, jobId, isUnderWay);
        const beside: ExportJob[] = [];
        for (const organization of small) beside.push(await exported(organization));
        const largeJob = await waitForExport(large.admin, jobId, () => {});
        const besideMs = beside.filter((job) => endOf(job) < endOf(largeJob)).map(durationMs);
        const ratio = median(besideMs) / median(idle);
        report('beside the large export', idle, besideMs, ratio);
        // Enough small exports ran beside the large one for a meaningful median.
        expect(besideMs.length).toBeGreaterThanOrEqual(smallCount / 2);
        expect(ratio).toBeLessThanOrEqual(3);
      },
      5 * minuteMs,
    );

    test(
      'that arrive at the same time all end before it, though it came first',
      async () => {
        await forgetSegments(harness);
        const idle = [durationMs(await exported(small[0] as Organization))];
        await forgetSegments(harness);
        const { jobId } = await startExport(large.admin, { domain: large.domain });
        await whenJob(large.admin, jobId, isUnderWay);
        const beside = await Promise.all(small.map(exported));
        const largeJob = await waitForExport(large.admin, jobId, () => {});
        report('all at once beside it', idle, beside.map(durationMs), median(beside.map(durationMs)) / median(idle));
        expect(beside.filter((job) => endOf(job) < endOf(largeJob))).toHaveLength(smallCount);
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

/** Time from the request to the last commit, from the job's timestamps. */
const durationMs = (job: ExportJob): number => endOf(job) - Date.parse(job.createdAt);

function report(how: string, idle: readonly number[], beside: readonly number[], ratio: number): void {
  const text = `small exports, seconds: idle ${shown(idle)}; ${how} ${shown(beside)}; ratio of the medians ${ratio.toFixed(2)}`;
  process.stdout.write(`${text}\n`);
}

const shown = (durations: readonly number[]): string => durations.map((ms) => (ms / 1000).toFixed(2)).join(' ');
