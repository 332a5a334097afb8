import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { largestProject, generatedProject } from '../../support/docs-projects.ts';
import { packTar } from '../../support/archives.ts';
import { exportHistory, forgetSegments, publishArchive } from '../../support/installation-exports.ts';
import type { TestInstallation } from '../../support/start-installation.ts';
import {
  cpuSecondsOfInstallation,
  exportToLink,
  jobStory,
  objectFolderOf,
  startExportInstallation,
} from './export-installation.ts';
import { referenceProject } from '../render/reference-project.ts';
import { type Bench, type Measurement, medianOf, ratio, shown, table } from './measurement.ts';
import type { PlainRound } from './plain-loop.ts';

type Run = { pages: number; seconds: number; cpuSeconds: number | undefined };
type Row = { name: string; runs: Run[] };
type Setting = { renderers: number; slots: number };
type Project = { title: string; publish(harness: TestInstallation): Promise<unknown> };

const fromCorpus = largestProject.name === 'mintlify-docs';
const generatedPages = 1_000;
const configuredSlots = availableParallelism();
const settings = [
  { renderers: 1, slots: 1 },
  { renderers: 2, slots: 1 },
  { renderers: 1, slots: configuredSlots },
  { renderers: 2, slots: configuredSlots },
].filter(
  ({ renderers, slots }, at, all) => at === all.findIndex((one) => one.renderers === renderers && one.slots === slots),
);

const corpusOrGenerated: Project = fromCorpus
  ? { title: largestProject.name, publish: (harness) => harness.publish(largestProject.folder) }
  : {
      title: `a generated project (${largestProject.name} is not the corpus)`,
      publish: async (harness) => publishArchive(harness, await generatedProject('Generated', generatedPages)),
    };

/** Pages per second and processor time per page, from request to link, against the same pages in a plain loop. */
export const flow: Measurement = {
  name: 'flow',
  about: 'pages/s and processor time per page, from request to link, with one and two renderers',
  run: (bench) => compare(bench, corpusOrGenerated, settings),
};

/** The same measurement for reference pages, which all come from one large API description. */
export const reference: Measurement = {
  name: 'reference',
  about: 'pages/s and processor time per page of an API description of 800 operations, with one renderer',
  run: (bench) =>
    compare(
      bench,
      {
        title: 'an API description of 800 operations',
        publish: async (harness) => publishArchive(harness, await packTar(referenceProject())),
      },
      [{ renderers: 1, slots: configuredSlots }],
    ),
};

async function compare(bench: Bench, project: Project, allSettings: readonly Setting[]): Promise<void> {
  const rows: Row[] = [];
  for (const setting of allSettings) rows.push(...(await measured(bench, project, setting, rows.length === 0)));
  const [rendering, packed] = rows;
  const pages = rendering?.runs[0]?.pages ?? 0;
  bench.print(`Request to link: ${project.title}, ${pages} pages; medians of ${bench.runs}\n`);
  const of = (row: Row | undefined) => ({
    pagesPerSecond: medianOf((row?.runs ?? []).map((run) => run.pages / run.seconds)),
    cpuMs: medianOf((row?.runs ?? []).map(cpuMsPerPage)),
  });
  const loop = of(packed);
  bench.print(
    table(
      ['', 'pages/s', 'to the loop', 'CPU ms/page', 'to the loop'],
      rows.map((row) => {
        const { pagesPerSecond, cpuMs } = of(row);
        const others = [ratio(pagesPerSecond, loop.pagesPerSecond), shown(cpuMs), ratio(cpuMs, loop.cpuMs)];
        return [row.name, shown(pagesPerSecond), ...others];
      }),
    ),
  );
  bench.print('  The loop: the same pages, rendered and packed one after the other in one process without services.');
  bench.print('  Processor time: user and system, of all services, their children and nats-server.');
}

const cpuMsPerPage = ({ cpuSeconds, pages }: Run): number | undefined =>
  cpuSeconds === undefined ? undefined : (cpuSeconds * 1_000) / pages;

function measured(
  bench: Bench,
  project: Project,
  { renderers, slots }: Setting,
  withReference: boolean,
): Promise<Row[]> {
  const environment = { BINDERY_RENDERER_SLOTS: String(slots) };
  const name = `${renderers} ${renderers === 1 ? 'renderer' : 'renderers'} of ${slots} ${slots === 1 ? 'slot' : 'slots'}`;
  bench.progress(name);
  return bench.using(startExportInstallation({ renderers, environment }), async (harness) => {
    await project.publish(harness);
    // The first export of fresh processes includes loading and compiling.
    const { job } = await exportToLink(harness.admin, harness.domain);
    const plain = withReference ? await plainRows(bench, harness, job.jobId) : [];
    const cold: Run[] = [];
    const again: Run[] = [];
    for (let run = 0; run < bench.runs; run += 1) {
      await forgetSegments(harness);
      cold.push(await timedExport(harness));
      again.push(await timedExport(harness));
    }
    return [...plain, { name: `${name}, cold`, runs: cold }, { name: `${name}, segments present`, runs: again }];
  });
}

async function timedExport(harness: TestInstallation): Promise<Run> {
  const before = cpuSecondsOfInstallation(harness);
  const { job, seconds } = await exportToLink(harness.admin, harness.domain);
  const after = cpuSecondsOfInstallation(harness);
  const cpuSeconds = before === undefined || after === undefined ? undefined : after - before;
  return { pages: job.pageCount, seconds, cpuSeconds };
}

async function plainRows(bench: Bench, harness: TestInstallation, jobId: string): Promise<Row[]> {
  const { planHash } = jobStory((await exportHistory(harness, jobId)).commits);
  const plan = { objectFolder: objectFolderOf(harness), organization: harness.organization, planHash };
  const rounds = await runPlainLoop(plan, bench.runs);
  return [
    { name: 'plain loop, rendering alone', runs: rounds.map(({ pages, render }) => ({ pages, ...render })) },
    {
      name: 'plain loop, rendered and packed',
      runs: rounds.map(({ pages, render, pack }) => ({
        pages,
        seconds: render.seconds + pack.seconds,
        cpuSeconds: render.cpuSeconds + pack.cpuSeconds,
      })),
    },
  ];
}

const deadlineMs = 300_000;

/**
 * Renders the pages of a plan in a plain loop in a separate process, after a round that loads and compiles. With `mostPages`, it takes only every
 * second chunk, every third, and so on.
 */
export async function runPlainLoop(
  plan: { objectFolder: string; organization: string; planHash: string },
  rounds: number,
  mostPages = Infinity,
): Promise<PlainRound[]> {
  const file = join(import.meta.dirname, 'plain-loop.ts');
  const args = [file, plan.objectFolder, plan.organization, plan.planHash, String(rounds + 1), String(mostPages)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: deadlineMs });
  return stdout
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as PlainRound);
}
