import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiClient } from '#services/cli/api-client.ts';
import { signBundleLink, startExport, waitForExport } from '#services/cli/export-client.ts';
import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { pause } from '../support/chaos/fault-injection.ts';
import { describeWithServers, skipSuite } from '../support/describe-with-servers.ts';
import { addOrganization, exportHistory, type Organization } from '../support/installation-exports.ts';
import { checkOutOlder, olderCommit, type OlderService, type OlderVersion } from '../support/older-version.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';

const minuteMs = 60_000;
const organizationCount = 5;
const exportsOfEach = 10;
const pageCount = 24;
const atOnce = 5;

const commit = olderCommit();
const title =
  'an update: the orchestrator, a renderer and the gateway of the version before run beside those of this one';

const suite = () => {
  let harness: TestInstallation;
  let older: OlderVersion;
  let running: OlderService[];
  let sites: Organization[];

  beforeAll(async () => {
    if (commit === undefined) throw new Error('There is no version before this one.');
    older = await checkOutOlder(commit);
    harness = await startInstallation({
      copies: exportPathOnly,
      environment: { BINDERY_LIMIT_STARTS_PER_HOUR: '100000' },
    });
    running = [];
    for (const service of ['orchestrator', 'page-renderer', 'gateway'] as const) {
      running.push(await older.start(service, harness.installation));
    }
    sites = [];
    for (let n = 1; n <= organizationCount; n += 1) sites.push(await addOrganization(harness, `Site ${n}`, pageCount));
  }, 5 * minuteMs);
  afterAll(async () => {
    await Promise.all((running ?? []).map((service) => service.stop()));
    await harness?.stop();
    await older?.remove();
  });

  test(
    `${organizationCount * exportsOfEach} exports complete with either version of gateway, orchestrator and renderer`,
    async () => {
      const [olderOrchestrator, , olderGateway] = running;
      if (olderOrchestrator === undefined || olderGateway === undefined)
        throw new Error('The services of the older version do not run.');
      const all = Array.from({ length: exportsOfEach }, (_, round) =>
        sites.map((site, at) => {
          // Every second export is requested through the older gateway.
          const client = (round + at) % 2 === 0 ? site.admin : apiClient(olderGateway.url, site.adminKey);
          return { site, client };
        }),
      ).flat();
      const third = Math.ceil(all.length / 3);
      const done: { site: Organization; jobId: string; sha256: string }[] = [];
      const exportAll = (some: typeof all) =>
        inParallel(some, atOnce, async ({ site, client }) => {
          const { jobId } = await startExport(client, { domain: site.domain });
          const job = await waitForExport(client, jobId, () => {});
          expect(job).toMatchObject({ status: 'completed', pageCount, pageTotal: pageCount });
          done.push({ site, jobId, sha256: (await signBundleLink(client, jobId)).sha256 });
        });

      // First the orchestrator of this version leads, then the older one, and then that of this version until the end.
      await exportAll(all.slice(0, third));
      const paused = pause(harness.installation.pids('orchestrator'));
      try {
        await exportAll(all.slice(third, 2 * third));
      } finally {
        paused.resume();
      }
      await Promise.all([exportAll(all.slice(2 * third)), olderOrchestrator.stop()]);
      expect(done).toHaveLength(organizationCount * exportsOfEach);

      const { installation } = harness;
      const decidedBy = new Set<string>();
      const bundles = new Map<string, Set<string>>();
      for (const { site, jobId, sha256 } of done) {
        const { commits, problems } = await exportHistory({ installation, organization: site.organization }, jobId);
        expect(problems).toEqual([]);
        for (const { source } of commits) if (source.startsWith('orchestrator')) decidedBy.add(source);
        const version = commits.at(-1)?.data.state.rendererVersion ?? '';
        // The platform's address in the bundle is one of the job's options, set by the gateway that took the request.
        const [requested] = commits[0]?.data.events ?? [];
        const options = requested?.type === 'ExportRequested' ? requested.data.options : undefined;
        const key = `${site.organization} ${version} ${JSON.stringify(options?.site)}`;
        bundles.set(key, (bundles.get(key) ?? new Set()).add(sha256));
      }
      // The same content, options and renderer version give the same bundle.
      expect([...bundles].filter(([, digests]) => digests.size !== 1)).toEqual([]);
      expect(decidedBy.size).toBeGreaterThanOrEqual(2);
      const versions = new Set([...bundles.keys()].map((key) => key.split(' ')[1]));
      expect(versions).toEqual(new Set([await rendererVersion(), older.rendererVersion]));
      process.stdout.write(`older: ${older.commit.slice(0, 12)}, ${decidedBy.size} orchestrators decided\n`);
    },
    10 * minuteMs,
  );
};

if (commit === undefined) skipSuite(title, 'the history of the project is not here', suite);
else describeWithServers(['nats-server'], title, suite);
