import { cp, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobPath, retryWhileAway } from '#services/cli/api-client.ts';
import { signBundleLink, startExport, waitForExport } from '#services/cli/export-client.ts';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { BusUser } from '#shared/messaging/subjects/subject-table.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { pause, takeNatsAway } from '../support/chaos/fault-injection.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import {
  addOrganization,
  exportHistory,
  isUnderWay,
  type Organization,
  whenJob,
} from '../support/installation-exports.ts';
import { newFolder } from '../support/new-folder.ts';
import { describeWithSmallDisk, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';

/*
 * Isolation of failures: when something fails for one organization, or on the bus, the exports of all others must continue.
 */

const minuteMs = 60_000;
const manyStarts = { BINDERY_LIMIT_STARTS_PER_HOUR: '100000' };
const victimPages = 400;
const otherPages = 12;

type Site = Organization & { sha256: string };

/** An organization that has exported its site once. */
async function exportingSite(harness: TestInstallation, name: string, pageCount: number): Promise<Site> {
  const site = await addOrganization(harness, name, pageCount);
  return { ...site, sha256: await exported(site) };
}

/** Exports within a deadline that an undisturbed export does not come near. Returns the digest of the bundle. */
async function exported({ admin, domain }: Organization): Promise<string> {
  const { jobId } = await startExport(admin, { domain });
  const late = () => new Error(`The export ${jobId} did not end.`);
  await withDeadline(
    waitForExport(admin, jobId, () => {}),
    2 * minuteMs,
    late,
  );
  return (await signBundleLink(admin, jobId)).sha256;
}

/** Exports sites repeatedly. The returned function stops that after one more export of each, and returns the number of exports. */
function keepExporting(sites: readonly Site[]): () => Promise<number> {
  let stopping = false;
  let count = 0;
  const lanes = sites.map(async (site) => {
    for (let isLast = false; !isLast; count += 1) {
      isLast = stopping;
      expect(await exported(site)).toBe(site.sha256);
    }
  });
  const all = Promise.all(lanes);
  all.catch(() => {});
  return async () => {
    stopping = true;
    await all;
    return count;
  };
}

/** The completed jobs of an organization on the first page of its list, newest first. */
async function completedJobs({ admin }: Organization): Promise<ExportJob[]> {
  const { jobs } = await admin.json<{ jobs: ExportJob[] }>('/v1/static-export/jobs?status=completed');
  expect(jobs).not.toEqual([]);
  return jobs;
}

const jobOf = ({ admin }: Organization, jobId: string) => retryWhileAway(() => admin.json<ExportJob>(jobPath(jobId)));

describeWithSmallDisk('the disk of the bus is full, and has room again', () => {
  let disk: SmallDisk;
  let harness: TestInstallation;

  beforeAll(async () => {
    disk = mountSmallDisk(96);
    const folder = newFolder();
    await symlink(disk.folder, join(folder, 'nats'));
    harness = await startInstallation({ folder, copies: exportPathOnly, environment: manyStarts });
  }, 3 * minuteMs);
  afterAll(async () => {
    await harness?.stop();
    disk?.remove();
  });

  test(
    'no accepted work is lost, and all exports continue',
    async () => {
      const sites = [
        await exportingSite(harness, 'First', otherPages),
        await exportingSite(harness, 'Second', otherPages),
      ];
      const { baseUrl } = harness.installation;
      const ready = async () => (await fetch(`${baseUrl}/readyz`)).status;
      expect(await ready()).toBe(200);

      const large = await addOrganization(harness, 'Large', victimPages);
      const { jobId: running } = await startExport(large.admin, { domain: large.domain });
      await whenJob(large.admin, running, isUnderWay);
      const accepted: { site: Organization; jobId: string }[] = [{ site: large, jobId: running }];
      disk.fill();
      const refused = sites.map(async (site) => {
        for (;;) {
          const answer = await site.admin
            .raw('/v1/static-export/jobs', {
              method: 'POST',
              json: { domain: site.domain },
            })
            .catch((error: unknown) => error as Error);
          if (answer instanceof Error) return answer.message;
          accepted.push({ site, jobId: ((await answer.json()) as ExportJob).jobId });
        }
      });
      await Promise.all(refused);
      await expect.poll(ready, { timeout: minuteMs }).toBe(503);
      await expect.poll(() => harness.news.join('\n'), { timeout: minuteMs }).toContain('its disk is full');

      disk.free();
      await expect.poll(ready, { timeout: 2 * minuteMs }).toBe(200);
      expect(harness.news.filter((line) => line.includes('although there is room'))).not.toEqual([]);
      for (const { site, jobId } of accepted) await waitForExport(site.admin, jobId, () => {});
      expect(await Promise.all(sites.map(exported))).toEqual(sites.map(({ sha256 }) => sha256));
    },
    8 * minuteMs,
  );
});

describeWithServers(['nats-server'], 'during a failure, the exports of others continue', () => {
  let harness: TestInstallation;
  let victim: Organization;
  let others: Site[];

  beforeAll(async () => {
    harness = await startInstallation({
      copies: { ...exportPathOnly, projector: 2 },
      healthyAfterMs: 0,
      environment: manyStarts,
    });
    victim = await addOrganization(harness, 'Victim', victimPages);
    others = await Promise.all(['One', 'Two', 'Three'].map((name) => exportingSite(harness, name, otherPages)));
  }, 5 * minuteMs);
  afterAll(() => harness?.stop());

  async function asUser<User extends BusUser, T>(user: User, work: (bus: BusOf<User>) => Promise<T>): Promise<T> {
    const { natsUrl: url, secrets } = harness.installation;
    const bus = await connectBus({ url, service: user, password: secrets.natsPasswords[user] ?? '', instance: 'test' });
    try {
      return await work(bus);
    } finally {
      await bus.close();
    }
  }

  test(
    'the log of a job is purged while it runs',
    async () => {
      const { jobId } = await startExport(victim.admin, { domain: victim.domain });
      await whenJob(victim.admin, jobId, isUnderWay);
      const stop = keepExporting(others);
      const subject = exportLogSubject(victim.organization, jobId);
      await asUser('housekeeper', async (bus) => {
        const last = await bus.exports.last(subject, { fromLeader: true });
        await bus.exports.purge(subject, { sequence: last?.sequence ?? 0 });
      });
      // Meanwhile late facts of the renderers about the purged job arrive.
      await exported(victim);
      expect(await stop()).toBeGreaterThanOrEqual(2 * others.length);
    },
    6 * minuteMs,
  );

  test(
    'the leading projector is paused in the middle of a rebuild, and resumes after the other generation is read',
    async () => {
      const stop = keepExporting(others);
      const done = await Promise.all(others.map(async (site) => ({ site, jobs: await completedJobs(site) })));
      const [first = 0, second = 0] = harness.installation.pids('projector');
      const request = { id: `rb_${randomBase62(22)}`, askedAt: new Date().toISOString() };
      await asUser('operator', async ({ projections }) => {
        // While the first one is paused, the second leads and accepts the request.
        const spare = pause([first]);
        await leads(projections, () => projections.requests.put('exports', request));
        spare.resume();
        const paused = pause([second]);
        try {
          await leads(projections, async () => {}, request.id);
        } finally {
          paused.resume();
        }
      });
      expect(await stop()).toBeGreaterThanOrEqual(2 * others.length);
      for (const site of others) expect(await exported(site)).toBe(site.sha256);
      for (const { site, jobs } of done) {
        for (const job of jobs) expect(await jobOf(site, job.jobId)).toEqual(job);
      }
    },
    6 * minuteMs,
  );

  /** Resolves when the rebuild of `exports` has begun or, with an id, when the rebuild with this id has ended. */
  async function leads(
    { pointers }: Pick<BusOf<'operator'>['projections'], 'pointers'>,
    ask: () => Promise<unknown>,
    endedId?: string,
  ): Promise<void> {
    await ask();
    const late = AbortSignal.timeout(2 * minuteMs);
    for await (const change of pointers.watch('exports', late)) {
      if (change.kind !== 'put') continue;
      const { rebuild, lastRebuild } = change.document;
      if (endedId === undefined ? rebuild !== undefined : lastRebuild?.id === endedId) return;
    }
    throw new Error('The rebuild did not begin or end in time.');
  }

  test(
    'the bus comes back with data from an hour ago',
    async () => {
      const before = await startExport(victim.admin, { domain: victim.domain });
      await waitForExport(victim.admin, before.jobId, () => {});
      const running = await startExport(victim.admin, { domain: victim.domain });

      const store = join(harness.folder, 'nats', 'store');
      const copy = join(harness.folder, 'an-hour-ago');
      const still = pause(harness.installation.pids('nats-server'));
      await cp(store, copy, { recursive: true });
      still.resume();

      // The bus will lose everything from here on, and will assign its sequences and revisions again.
      const key = randomBase62(22);
      const lost = await startExport(victim.admin, { domain: victim.domain }, key);
      await waitForExport(victim.admin, lost.jobId, () => {});
      for (const site of others) await exported(site);

      const away = await takeNatsAway(harness.installation);
      await expect.poll(() => harness.installation.pids('nats-server'), { timeout: minuteMs }).toEqual([]);
      await rm(store, { recursive: true });
      await cp(copy, store, { recursive: true });
      await away.resume();

      const stop = keepExporting(others);
      expect(await jobOf(victim, before.jobId)).toMatchObject({ status: 'completed' });
      await waitForExport(victim.admin, running.jobId, () => {});
      const again = await startExport(victim.admin, { domain: victim.domain }, key);
      expect(again.jobId).toBe(lost.jobId);
      await waitForExport(victim.admin, again.jobId, () => {});
      expect(await stop()).toBeGreaterThanOrEqual(others.length);
      for (const jobId of [before.jobId, running.jobId, again.jobId]) {
        const { installation } = harness;
        expect((await exportHistory({ installation, organization: victim.organization }, jobId)).problems).toEqual([]);
      }
    },
    8 * minuteMs,
  );
});
