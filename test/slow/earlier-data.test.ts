import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askQuestion } from '#services/cli/commands/ask.ts';
import { signBundleLink, startExport, waitForExport } from '#services/cli/export-client.ts';
import { whenSearched } from '#services/cli/publish-project.ts';
import type { ExportList } from '#shared/interfaces/http/exports.ts';
import { describeWithServers, skipSuite } from '../support/describe-with-servers.ts';
import { generatedProject } from '../support/docs-projects.ts';
import { publishArchive } from '../support/installation-exports.ts';
import { type InstalledVersion, startVersion } from '../support/installed-version.ts';
import { newFolder } from '../support/new-folder.ts';
import { runCommand } from '../support/start-installation.ts';
import { earlierReleases, folderOfVersion } from '../support/version-folder.ts';

const minuteMs = 60_000;
const here = resolve(import.meta.dirname, '../..');
const title = 'data of an earlier version';

const suite = (commit: string) => () => {
  let folder: string;
  let data: string;
  let running: InstalledVersion | undefined;
  /** Exports by their jobs, with the digests of their bundles. All of them have to remain. */
  const exported = new Map<string, string>();
  let interrupted: string;

  beforeAll(async () => {
    folder = await folderOfVersion(commit);
    data = newFolder();
  }, 5 * minuteMs);
  afterAll(async () => {
    await running?.kill();
    await rm(folder ?? '', { recursive: true, force: true });
  });

  const start = async (of: string): Promise<InstalledVersion> => (running = await startVersion(of, data));
  const command = (...args: string[]) => runCommand(args, { BINDERY_DATA: data });
  const listed = async ({ admin }: InstalledVersion) =>
    (await admin.json<ExportList>('/v1/static-export/jobs?limit=100')).jobs;

  /** Publishes a site with its own words, exports it, and asks about it. */
  async function use(version: InstalledVersion, siteName: string): Promise<void> {
    const { admin, domain, reader } = version;
    const { contentVersion } = await publishArchive(version, await generatedProject(siteName, 6));
    const { jobId } = await startExport(admin, { domain });
    expect(await waitForExport(admin, jobId, () => {})).toMatchObject({ status: 'completed', pageCount: 6 });
    exported.set(jobId, (await signBundleLink(admin, jobId)).sha256);
    await whenSearched(admin, domain, contentVersion);
    const answer = await askQuestion(reader, domain, `What is page 3 of ${siteName} about?`);
    expect(answer.sources.map((source) => source.title)).toContain(`Page 3 of ${siteName}`);
  }

  async function hasAll(version: InstalledVersion): Promise<void> {
    const jobs = await listed(version);
    const completed = jobs.filter(({ status }) => status === 'completed').map(({ jobId }) => jobId);
    expect(completed.filter((jobId) => exported.has(jobId)).toSorted()).toEqual([...exported.keys()].toSorted());
    for (const [jobId, sha256] of exported) {
      expect((await signBundleLink(version.admin, jobId)).sha256).toBe(sha256);
    }
  }

  test(
    'is created by the earlier version, which dies in the middle of an export',
    async () => {
      const before = await start(folder);
      await use(before, 'Earlier');
      await publishArchive(before, await generatedProject('Interrupted', 60));
      interrupted = (await startExport(before.admin, { domain: before.domain })).jobId;
      await before.kill();
    },
    10 * minuteMs,
  );

  test(
    'works with this version: all data is there, the export continues, and replays succeed',
    async () => {
      const now = await start(here);
      await hasAll(now);
      const [first = ''] = exported.keys();
      expect((await command('replay', first, '--wait')).stdout).toMatch(/^(same|renderer-changed):/);
      const { status, pageCount } = await waitForExport(now.admin, interrupted, () => {});
      expect({ status, pageCount }).toEqual({ status: 'completed', pageCount: 60 });
      await use(now, 'Today');
      expect(await command('audit', 'verify')).toMatchObject({ code: 0 });
      expect(await command('dead', 'list')).toMatchObject({ code: 0, stdout: expect.stringMatching(/nothing|no /i) });
      await now.stop();
    },
    10 * minuteMs,
  );

  test(
    'works with the earlier version again, and then with this one',
    async () => {
      const before = await start(folder);
      await hasAll(before);
      await use(before, 'Back');
      // The earlier version reads each entry of the index of active jobs as a job.
      expect(before.said()).not.toContain('the log of an active job is gone');
      await before.stop();
      const now = await start(here);
      await hasAll(now);
      await use(now, 'Again');
      expect(await command('audit', 'verify')).toMatchObject({ code: 0 });
      await now.stop();
    },
    10 * minuteMs,
  );
};

const commits = earlierReleases();
if (commits === undefined) {
  const reason = 'the history of the project is not here';
  if (process.env.BINDERY_REQUIRE_SERVERS === '1') {
    test(`${title} (${reason})`, () => {
      throw new Error(`${reason}: clone the whole repository`);
    });
  } else skipSuite(title, reason, () => {});
} else {
  for (const commit of commits) describeWithServers(['nats-server'], `${title}: ${commit.slice(0, 12)}`, suite(commit));
}
