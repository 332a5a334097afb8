import { packTar } from '../../support/archives.ts';
import { generatedFiles } from '../../support/docs-projects.ts';
import { exportHistory, forgetSegments, publishArchive } from '../../support/installation-exports.ts';
import type { TestInstallation } from '../../support/start-installation.ts';
import { exportToLink, type JobStory, jobStory, startExportInstallation } from './export-installation.ts';
import { type Measurement, medianOf, ratio, shown, table } from './measurement.ts';

type Run = JobStory & { seconds: number };

const pageCount = 1_000;
const changedPage = 'guides/part-10/page-500.mdx';

/** Cost of an export when most of its chunks exist. */
export const reuse: Measurement = {
  name: 'reuse',
  about: `an export of ${pageCount} pages: cold, again without a change, after one page changed`,
  run: (bench) =>
    bench.using(startExportInstallation(), async (harness) => {
      const files = generatedFiles('Reuse', pageCount);
      await publishArchive(harness, await packTar(files));
      // The first export of fresh processes includes loading and compiling.
      await timedExport(harness);
      const runs: Record<'cold' | 'again' | 'changed', Run[]> = { cold: [], again: [], changed: [] };
      for (let run = 0; run < bench.runs; run += 1) {
        await forgetSegments(harness);
        runs.cold.push(await timedExport(harness));
        runs.again.push(await timedExport(harness));
        files[changedPage] += `\nA sentence that was added in round ${run}.\n`;
        await publishArchive(harness, await packTar(files));
        runs.changed.push(await timedExport(harness));
      }
      const cold = summary(runs.cold);
      const rows = [
        { name: 'cold', ...cold },
        { name: 'again without a change', ...summary(runs.again) },
        { name: 'after one page changed', ...summary(runs.changed) },
      ];
      bench.print(`Export again: generated project, ${pageCount} pages, one renderer; medians of ${bench.runs}\n`);
      bench.print(
        table(
          [
            '',
            'pages rendered',
            'to cold',
            'chunks rendered',
            'seconds',
            'to cold',
            'planning',
            'rendering',
            'closing',
            'joining',
          ],
          rows.map((row) => [
            row.name,
            `${shown(row.pagesRendered)} of ${row.pages}`,
            ratio(row.pagesRendered, cold.pagesRendered),
            `${shown(row.chunksRendered)} of ${row.chunks}`,
            shown(row.seconds),
            ratio(row.seconds, cold.seconds),
            ...row.phases.map(shown),
          ]),
        ),
      );
      bench.print(
        '  Pages and chunks rendered: from the log of each export. If anything changed, the closing segment was rendered as well.',
      );
    }),
};

function summary(runs: readonly Run[]) {
  const phase = (name: keyof JobStory['phases']) => medianOf(runs.map(({ phases }) => phases[name]));
  return {
    pages: runs[0]?.pages ?? 0,
    chunks: runs[0]?.chunks ?? 0,
    pagesRendered: medianOf(runs.map(({ pagesRendered }) => pagesRendered)),
    chunksRendered: medianOf(runs.map(({ chunksRendered }) => chunksRendered)),
    seconds: medianOf(runs.map(({ seconds }) => seconds)),
    phases: [phase('planning'), phase('rendering'), phase('closing'), phase('joining')],
  };
}

async function timedExport(harness: TestInstallation): Promise<Run> {
  const { job, seconds } = await exportToLink(harness.admin, harness.domain);
  return { ...jobStory((await exportHistory(harness, job.jobId)).commits), seconds };
}
