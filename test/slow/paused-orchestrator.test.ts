import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signBundleLink, startExport, waitForExport } from '#services/cli/export-client.ts';
import { bucketRows } from '#shared/messaging/subjects/subject-table.ts';
import { pause } from '../support/chaos/fault-injection.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { chaosProject } from '../support/docs-projects.ts';
import { exportHistory, forgetSegments, isUnderWay, whenJob } from '../support/installation-exports.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';

const leaseMs = (bucketRows.find(({ name }) => name === 'leases')?.ttlSeconds ?? 3) * 1000;
const minuteMs = 60_000;

describeWithServers(['nats-server'], 'two orchestrators while the leader is paused for longer than its lease', () => {
  let harness: TestInstallation;
  let undisturbed: string;

  beforeAll(async () => {
    harness = await startInstallation({ copies: { ...exportPathOnly, orchestrator: 2 } });
    await harness.publish(chaosProject.folder);
    undisturbed = (await harness.exportSite()).link.sha256;
  }, 3 * minuteMs);
  afterAll(() => harness?.stop());

  test.each([1, 2, 3])(
    'no wrong commit, no lost chunk, the same bytes (pause %i)',
    async () => {
      const [first = 0, second = 0] = harness.installation.pids('orchestrator');
      await forgetSegments(harness);
      // While the first one is paused, the second leads. It has planned this job as soon as some of its pages are rendered.
      const alone = pause([first]);
      const { jobId } = await startExport(harness.admin, { domain: harness.domain });
      await whenJob(harness.admin, jobId, isUnderWay);
      const paused = pause([second]);
      alone.resume();
      try {
        const before = (await exportHistory(harness, jobId)).commits;
        const leaderBefore = before.at(-1)?.source;
        // The pause itself is under test: it has a fixed length and waits for nothing.
        await delay(1.5 * leaseMs);
        await whenCommittedBy(jobId, (source) => source !== leaderBefore);
      } finally {
        paused.resume();
      }
      const job = await waitForExport(harness.admin, jobId, () => {});
      expect(job.pageCount).toBe(job.pageTotal);
      expect((await signBundleLink(harness.admin, jobId)).sha256).toBe(undisturbed);
      const { commits, problems } = await exportHistory(harness, jobId);
      expect(problems).toEqual([]);
      const leaders = commits.map(({ source }) => source).filter((source) => source.startsWith('orchestrator'));
      const changes = leaders.filter((source, index) => index > 0 && source !== leaders[index - 1]).length;
      expect(new Set(leaders).size).toBe(2);
      // The old leader writes nothing after its pause, so the log changes from one leader to the other only once.
      expect(changes).toBe(1);
      process.stdout.write(`${commits.length} commits, ${leaders.length} by leaders\n`);
    },
    2 * minuteMs,
  );

  async function whenCommittedBy(jobId: string, wanted: (source: string) => boolean): Promise<void> {
    await whenJob(harness.admin, jobId, () => true);
    for (;;) {
      const last = (await exportHistory(harness, jobId)).commits.at(-1);
      if (last !== undefined && wanted(last.source)) return;
      await delay(100);
    }
  }
});
