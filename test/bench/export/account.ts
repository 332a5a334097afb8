import { availableParallelism, cpus } from 'node:os';
import { exportHistory } from '../../support/installation-exports.ts';
import type { TestInstallation } from '../../support/start-installation.ts';
import { writeProject } from './change.ts';
import {
  cpuSecondsByProcess,
  exportToLink,
  jobStory,
  objectFolderOf,
  startExportInstallation,
  untilCalm,
} from './export-installation.ts';
import { runPlainLoop } from './flow.ts';
import { type Bench, type Measurement, medianOf, ratio, shown, table, temporaryFolder } from './measurement.ts';

type Export = {
  pages: number;
  /** Seconds of all processors, by process, and those in which they were idle. */
  usedBy: Map<string, number>;
  idleSeconds: number;
  /** Pages a second in the rendering phase, and from the request to the link. */
  rendering: number;
  whole: number;
};

type Size = { first: Export; again: Export[]; loop: { seconds: number; cpuSeconds: number } };

const processors = availableParallelism();
const mostLoopPages = 1_000;

/** The processor time of an export by process, and the share of the machine that renders. */
export const account: Measurement = {
  name: 'account',
  about:
    'processor time of an export by process, and its pages/s to those of one warm process, by the size of the site (--sizes)',
  async run(bench) {
    for (const pages of bench.sizes) print(bench, pages, await measured(bench, pages));
  },
};

const measured = (bench: Bench, pages: number): Promise<Size> =>
  bench.using(temporaryFolder(), ({ path: folder }) =>
    bench.using(startExportInstallation(), async (harness) => {
      const changePages = await writeProject(folder, pages);
      bench.progress(`${pages} pages: the first export`);
      await harness.publish(folder);
      await untilCalm(harness);
      const first = await observed(harness);
      const again: Export[] = [];
      let planHash = first.planHash;
      for (let run = 0; run < bench.runs; run += 1) {
        bench.progress(`${pages} pages: every page changed, run ${run + 1}`);
        await changePages(run, 'all');
        await harness.publish(folder);
        const one = await observed(harness);
        again.push(one);
        planHash = one.planHash;
      }
      bench.progress(`${pages} pages: one process`);
      const plan = { objectFolder: objectFolderOf(harness), organization: harness.organization, planHash };
      const rounds = await runPlainLoop(plan, bench.runs, mostLoopPages);
      const perPage = (field: 'seconds' | 'cpuSeconds'): number =>
        medianOf(rounds.map((round) => (round.render[field] + round.pack[field]) / round.pages)) ?? Number.NaN;
      return { first, again, loop: { seconds: perPage('seconds'), cpuSeconds: perPage('cpuSeconds') } };
    }),
  );

async function observed(harness: TestInstallation): Promise<Export & { planHash: string }> {
  const before = cpuSecondsByProcess(harness);
  const idleBefore = idleSeconds();
  const { job, seconds } = await exportToLink(harness.admin, harness.domain);
  const idle = idleSeconds() - idleBefore;
  const after = cpuSecondsByProcess(harness);
  const { planHash, pages, phases } = jobStory((await exportHistory(harness, job.jobId)).commits);
  return {
    pages,
    planHash,
    usedBy: new Map([...after].map(([name, used]) => [name, used - (before.get(name) ?? 0)])),
    idleSeconds: idle,
    rendering: pages / phases.rendering,
    whole: pages / seconds,
  };
}

const idleSeconds = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0) / 1_000;

/** Processes with less processor time do not get a row. */
const leastMsPerPage = 0.01;

function print(bench: Bench, pages: number, { first, again, loop }: Size): void {
  const msPerPage = (seconds: (one: Export) => number) => (one: Export) => (seconds(one) * 1_000) / one.pages;
  const row = (name: string, seconds: (one: Export) => number): string[] => {
    const of = msPerPage(seconds);
    const median = medianOf(again.map(of));
    return [
      name,
      shown(of(first)),
      ratio(of(first), loop.cpuSeconds * 1_000),
      shown(median),
      ratio(median, loop.cpuSeconds * 1_000),
    ];
  };
  const names = [...first.usedBy.keys()].filter((name) =>
    [first, ...again].some((one) => msPerPage(() => one.usedBy.get(name) ?? 0)(one) >= leastMsPerPage),
  );
  const sum = (one: Export): number => one.usedBy.values().reduce((total, used) => total + used, 0);
  bench.print(`Account of an export: ${shown(pages)} generated pages, one renderer; medians of ${bench.runs}\n`);
  bench.print(
    table(
      ['processor time, ms a page', 'first', 'to the loop', 'every page changed', 'to the loop'],
      [
        ...names.map((name) => row(name, (one) => one.usedBy.get(name) ?? 0)),
        row('together', sum),
        row('idle processors', ({ idleSeconds: idle }) => idle),
        [
          'one warm process, rendered and packed',
          shown(loop.cpuSeconds * 1_000),
          '1',
          shown(loop.cpuSeconds * 1_000),
          '1',
        ],
      ],
    ),
  );
  const most = processors / loop.seconds;
  const rates = (name: string, of: (one: Export) => number) => {
    const median = medianOf(again.map(of));
    return [name, shown(of(first)), ratio(of(first), most), shown(median), ratio(median, most)];
  };
  bench.print('');
  bench.print(
    table(
      ['pages/s', 'first', `to ${processors} warm processes`, 'every page changed', `to ${processors} warm processes`],
      [rates('rendering', ({ rendering }) => rendering), rates('request to link', ({ whole }) => whole)],
    ),
  );
}
