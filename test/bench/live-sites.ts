/*
 * The time from the start of `bindery publish` with one changed page until a browser shows its new text, and of `bindery site rollback`, by the size of
 * the site. `npm run bench:live-sites -- [pages …] [--runs 3] [--first <folder of a project>]`; `--first` measures a first publication instead.
 */
import { parseArgs } from 'node:util';
import { whenSearched } from '#services/cli/publish-project.ts';
import type { PublishedContent } from '#shared/interfaces/http/content.ts';
import type { DeploymentList } from '#shared/interfaces/http/sites.ts';
import { openBrowser } from '../support/open-browser.ts';
import { runCommand, startInstallation } from '../support/start-installation.ts';
import { changedPageOf, sentenceOf, writeProject } from './export/change.ts';
import { medianOf, openInstallations, ratio, shown, table, temporaryFolder } from './export/measurement.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string', default: '3' }, first: { type: 'string' } },
});
const runs = Number(values.runs);
const sizes = positionals.length === 0 ? [100, 1_000, 25_000] : positionals.map(Number);
/** Time after which a page that does not show its text is a failure. */
const mostSeconds = 900;
const { using } = openInstallations();
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const progress = (text: string): void => void process.stderr.write(`  … ${text}\n`);

/** An installation with a host of sites, whose only domain has a site that is open. */
async function withSite<T>(measure: (site: Site) => Promise<T>): Promise<T> {
  return await using(
    startInstallation({ sitesPort: 0, environment: { BINDERY_LIMIT_STARTS_PER_HOUR: '100000' } }),
    (harness) =>
      using(
        openBrowser().then((browser) => ({ browser, stop: () => browser.close() })),
        async ({ browser }) => {
          const { admin, adminKey, domain, installation } = harness;
          const page = await browser.newPage();
          const run = async (...args: string[]): Promise<string> => {
            const { code, stdout, stderr } = await runCommand([...args, '--json'], {
              BINDERY_URL: installation.baseUrl,
              BINDERY_KEY: adminKey,
            });
            if (code !== 0) throw new Error(`bindery ${args.join(' ')} failed: ${stderr || stdout}`);
            return stdout;
          };
          const { address } = await admin.json<{ address: string }>(`/v1/domains/${domain}/site`, {
            method: 'PUT',
            json: {},
          });
          return await measure({
            async publish(folder, path, text) {
              const startedAt = performance.now();
              const published = JSON.parse(
                await run('publish', folder, '--domain', domain, '--no-remote'),
              ) as PublishedContent;
              const commandSeconds = secondsSince(startedAt);
              // The command waits for 20 s at most, and the first version of a large site takes longer.
              for (let isShown = false; !isShown; ) {
                await page.goto(`${address}${path}`, { waitUntil: 'domcontentloaded' });
                isShown = (await page.locator('main').innerText()).includes(text);
                if (!isShown && secondsSince(startedAt) > mostSeconds)
                  throw new Error(`The page ${path} does not show "${text}".`);
              }
              const seconds = secondsSince(startedAt);
              await whenSearched(admin, domain, published.contentVersion);

              const { deployments } = await admin.json<DeploymentList>(`/v1/domains/${domain}/deployments`);
              return { seconds, commandSeconds, deploymentSeconds: (deployments[0]?.durationMs ?? Number.NaN) / 1_000 };
            },
            async rollBack() {
              const startedAt = performance.now();
              await run('site', 'rollback', domain);
              return secondsSince(startedAt);
            },
          });
        },
      ),
  );
}

type Publication = { seconds: number; commandSeconds: number; deploymentSeconds: number };
type Site = {
  /**
   * Publishes a folder, and opens a page that must show `text`. Returns the seconds of the command, of the deployment in it, and until the text is
   * shown.
   */
  publish(folder: string, path: string, text: string): Promise<Publication>;
  rollBack(): Promise<number>;
};

const secondsSince = (startedAt: number): number => (performance.now() - startedAt) / 1_000;

async function measureSize(pages: number): Promise<string[][]> {
  progress(`${pages} pages: the first publication`);
  return await using(temporaryFolder(), ({ path: folder }) =>
    withSite(async (site) => {
      const change = await writeProject(folder, pages);
      const path = `/${changedPageOf(pages).replace(/\.mdx$/, '')}`;
      const first = await site.publish(folder, path, 'Page ');
      const changed: Publication[] = [];
      const back: number[] = [];
      for (let run = 0; run < runs; run += 1) {
        progress(`${pages} pages, run ${run + 1}`);
        await change(run);
        changed.push(await site.publish(folder, path, sentenceOf(run)));
      }
      for (let run = 0; run < runs; run += 1) back.push(await site.rollBack());
      const of = (name: keyof Publication) => medianOf(changed.map((each) => each[name]));
      return [
        row(pages, 'first publication', first.seconds, first.commandSeconds, first.deploymentSeconds, first.seconds),
        row(pages, 'one page changed', of('seconds'), of('commandSeconds'), of('deploymentSeconds'), first.seconds),
        row(pages, 'rollback', medianOf(back), medianOf(back), undefined, first.seconds),
      ];
    }),
  );
}

const row = (
  pages: number,
  what: string,
  seconds: number | undefined,
  command: number | undefined,
  deployment: number | undefined,
  first: number,
): string[] => [
  `${shown(pages)} pages: ${what}`,
  shown(seconds),
  shown(command),
  deployment === undefined ? '' : shown(deployment),
  ratio(seconds, first),
];

async function measureFirst(folder: string): Promise<string[][]> {
  // Each run has an installation of its own that has published another site before, so that its programs are loaded.
  const found: Publication[] = [];
  for (let run = 0; run < runs; run += 1) {
    progress(`the first publication, run ${run + 1}`);
    found.push(
      await using(temporaryFolder(), ({ path: other }) =>
        withSite(async (site) => {
          await writeProject(other, 100);
          await site.publish(other, '/guides/part-0/page-5', 'Page ');
          return await site.publish(folder, '/', '');
        }),
      ),
    );
  }
  const of = (name: keyof Publication) => medianOf(found.map((each) => each[name]));
  return [
    [
      `first publication of ${folder}`,
      shown(of('seconds')),
      shown(of('commandSeconds')),
      shown(of('deploymentSeconds')),
      '',
    ],
  ];
}

const rows: string[][] = [];
if (values.first === undefined) for (const pages of sizes) rows.push(...(await measureSize(pages)));
else rows.push(...(await measureFirst(values.first)));
print(`From the command until the browser shows the text; medians of ${runs}\n`);
print(table(['', 'seconds', 'the command', 'its deployment', 'to the first'], rows));
