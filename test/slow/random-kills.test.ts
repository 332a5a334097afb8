import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serviceNames } from '#infra/supervisor/services.ts';
import { downloadVerified } from '#services/cli/export-client.ts';
import { childGuard, type Kill, killAtRandom, rendererChild, seededRandom } from '../support/chaos/fault-injection.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { chaosProject } from '../support/docs-projects.ts';
import { exportHistory, forgetSegments } from '../support/installation-exports.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { withDeadline } from '../../shared/runtime/with-deadline.ts';

/*
 * Exports a project again and again while processes of the installation are killed at random. Before each export everything that was rendered
 * is deleted. By default there are 60 kills with a new seed. To choose the number of kills, or to repeat a seed:
 *
 *   BINDERY_CHAOS_KILLS=1000 BINDERY_CHAOS_SEED=7 npm run test:slow -- random-kills
 *
 * A seed gives each export the same victims after the same waits. The state of a process at that moment also depends on the machine.
 */
const kills = Number(process.env.BINDERY_CHAOS_KILLS ?? 60);
const seed = Number(process.env.BINDERY_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const kinds = [...serviceNames.filter((name) => !(name in exportPathOnly)), 'nats-server', rendererChild, childGuard];
/** Maximum number of kills in an export. So each export has a quiet end, and the next one begins on a system that was just hit. */
const killsPerExport = 20;
const gapMs = { least: 200, most: 2_000 };
const jobDeadlineMs = 240_000;
/** Number of the supervisor's lines in the message of a failure. */
const newsOfFailure = 60;

describeWithServers(
  ['nats-server'],
  `${kills} random kills (seed ${seed}) during exports of ${chaosProject.name}`,
  () => {
    let harness: TestInstallation;
    let undisturbed: { sha256: string; pages: number };

    beforeAll(async () => {
      harness = await startInstallation({
        copies: exportPathOnly,
        environment: { BINDERY_LIMIT_STARTS_PER_HOUR: '100000' },
      });
      await harness.publish(chaosProject.folder);
      const { job, link } = await harness.exportSite();
      undisturbed = { sha256: link.sha256, pages: job.pageCount };
    }, 180_000);
    afterAll(() => harness?.stop());

    test(
      'each export completes, with every page once and the digest of an undisturbed run',
      async () => {
        const died: Kill[] = [];
        let exports = 0;
        while (died.length < kills) {
          await forgetSegments(harness);
          exports += 1;
          const ended = new AbortController();
          const startedAt = performance.now();
          const killed: Kill[] = [];
          const killing = killAtRandom(harness.installation, {
            random: seededRandom(seed + exports),
            kinds,
            atMost: Math.min(killsPerExport, kills - died.length),
            gapMs,
            until: ended.signal,
            onKill: (kill) => killed.push(kill),
          });
          const circumstances = () => `export ${exports} of seed ${seed}, killed: ${names(killed)}`;
          const { job, link } = await withDeadline(
            harness.exportSite(),
            jobDeadlineMs,
            () => new Error('The export did not end.'),
          )
            .catch((error: unknown) => {
              throw new Error([circumstances(), ...harness.news.slice(-newsOfFailure)].join('\n'), { cause: error });
            })
            .finally(() => ended.abort());
          await killing;
          died.push(...killed);
          const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
          process.stdout.write(`${seconds} s: ${circumstances()}\n`);
          const { problems } = await exportHistory(harness, job.jobId);
          const { status, pageCount, pageTotal } = job;
          expect({
            circumstances: circumstances(),
            status,
            pageCount,
            pageTotal,
            sha256: link.sha256,
            problems,
          }).toEqual({
            circumstances: circumstances(),
            status: 'completed',
            pageCount: undisturbed.pages,
            pageTotal: undisturbed.pages,
            sha256: undisturbed.sha256,
            problems: [],
          });
        }
        const { link } = await harness.exportSite();
        const file = join(harness.folder, 'bundle.tar.gz');
        expect(await downloadVerified(link, file)).toMatchObject({ sha256: undisturbed.sha256 });
        const counts = [...Map.groupBy(died, ({ victim }) => victim)].map(([victim, all]) => `${victim} ${all.length}`);
        process.stdout.write(`${died.length} kills in ${exports} exports, seed ${seed}: ${counts.sort().join(', ')}\n`);
        if (kills >= killsPerExport) expect(new Set(died.map(({ victim }) => victim))).toEqual(new Set(kinds));
      },
      120_000 + kills * 20_000,
    );
  },
);

const names = (killed: readonly Kill[]): string =>
  killed.map(({ victim, afterMs }) => `${victim}@${afterMs}`).join(' ') || 'nothing';
