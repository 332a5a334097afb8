import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { downloadVerified, signBundleLink, startExport, waitForExport } from '#services/cli/export-client.ts';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { packTar } from '../support/archives.ts';
import { type Kill, killAtRandom, seededRandom } from '../support/chaos/fault-injection.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { exportHistory, publishArchive } from '../support/installation-exports.ts';
import { newFolder } from '../support/new-folder.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { bucketOn, startVersityGateway, type VersityGateway } from '../support/start-versitygw.ts';

/*
 * One page of a project is changed again and again, and each change is published and exported while the services that export are killed at random.
 * To choose the number of kills, or to repeat a seed:
 *
 *   BINDERY_CHAOS_KILLS=200 BINDERY_CHAOS_SEED=7 npm run test:slow -- killed-changes
 */
const kills = Number(process.env.BINDERY_CHAOS_KILLS ?? 20);
const seed = Number(process.env.BINDERY_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Enough for more chunks than a site without kept parts has. */
const pageCount = 280;
const kinds = ['orchestrator', 'page-renderer', 'bundler'];
const killsPerExport = 4;
const gapMs = { least: 50, most: 700 };

/** Words that hardly get smaller when they are packed, so that a store copies parts of 5 MiB. */
const noise = (name: string): string =>
  Array.from({ length: 1_200 }, (_, at) => createHash('sha256').update(`${name} ${at}`).digest('base64url')).join(' ');
const texts = Array.from({ length: pageCount }, (_, at) => noise(`page ${at}`));

function project(changes: readonly string[]): Record<string, string> {
  const pages = texts.map((_, at) => `page-${at}`);
  const docs = { name: 'Kills', theme: 'mint', colors: { primary: '#0055aa' }, navigation: { pages } };
  const files: Record<string, string> = { 'docs.json': JSON.stringify(docs) };
  for (const [at, text] of texts.entries())
    files[`page-${at}.mdx`] = `# Page ${at}\n\n${text}\n\n${changes[at] ?? ''}\n`;
  return files;
}

describeWithServers(
  ['versitygw', 'nats-server'],
  `${kills} kills (seed ${seed}) during exports of a changed page`,
  () => {
    let harness: TestInstallation | undefined;
    let gateway: VersityGateway;

    beforeAll(async () => {
      gateway = await startVersityGateway();
    });
    afterAll(async () => {
      await harness?.stop();
      await gateway?.stop();
    });

    test.each(['folder', 's3'])(
      'each bundle has the bytes of a replay (%s)',
      async (kind) => {
        const bucket = kind === 's3' ? await bucketOn(gateway, 'bindery') : {};
        const limits = { BINDERY_LIMIT_STARTS_PER_HOUR: '100000', BINDERY_LIMIT_LINKS_PER_HOUR: '100000' };
        harness = await startInstallation({
          copies: exportPathOnly,
          healthyAfterMs: 0,
          environment: { ...bucket, ...limits, BINDERY_LIMIT_PUBLICATIONS_PER_HOUR: '100000' },
        });
        const { admin, domain } = harness;
        const changes: string[] = [];
        const publish = async () => publishArchive({ admin, domain }, await packTar(project(changes)));
        await publish();
        await harness.exportSite();
        const random = seededRandom(seed);
        let died = 0;
        for (let round = 1; died < kills; round += 1) {
          changes[random.between(0, pageCount - 1)] = `A sentence of round ${round}.`;
          await publish();
          const ended = new AbortController();
          const killed: Kill[] = [];
          const atMost = Math.min(killsPerExport, kills - died);
          const onKill = (kill: Kill) => void killed.push(kill);
          const killing = killAtRandom(harness.installation, {
            random,
            kinds,
            atMost,
            gapMs,
            until: ended.signal,
            onKill,
          });
          const startedAt = performance.now();
          const { jobId } = await startExport(admin, { domain });
          const job = await waitForExport(admin, jobId, () => {}).finally(() => ended.abort());
          const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
          await killing;
          died += killed.length;
          const circumstances = `${kind}, round ${round} of seed ${seed}, ${seconds} s: ${killed.map(({ victim, afterMs }) => `${victim}@${afterMs}`).join(' ')}`;
          process.stdout.write(`${circumstances}\n`);
          expect([circumstances, job.status, job.pageCount]).toEqual([circumstances, 'completed', pageCount]);
          await downloadVerified(await signBundleLink(admin, jobId), join(newFolder(), 'bundle.tar.gz'));
          const replay = await admin.json<ExportJob>(`/v1/static-export/jobs/${jobId}/replay`, { method: 'POST' });
          const { digestMatch } = await waitForExport(admin, replay.jobId, () => {});
          const { problems } = await exportHistory(harness, jobId);
          expect([circumstances, digestMatch, problems]).toEqual([circumstances, 'same', []]);
        }
        await harness.stop();
        harness = undefined;
      },
      120_000 + kills * 20_000,
    );
  },
);
