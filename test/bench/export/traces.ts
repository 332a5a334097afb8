import { largestProject, generatedProject } from '../../support/docs-projects.ts';
import { forgetSegments, publishArchive } from '../../support/installation-exports.ts';
import type { TestInstallation } from '../../support/start-installation.ts';
import { startTraceCollector } from '../../support/start-trace-collector.ts';
import { cpuSecondsOfInstallation, exportToLink, startExportInstallation } from './export-installation.ts';
import { type Bench, type Measurement, medianOf, ratio, shown, table } from './measurement.ts';

type Run = { seconds: number; cpuMsPerPage: number | undefined };

const fromCorpus = largestProject.name === 'mintlify-docs';
const generatedPages = 1_000;

/** Time and processor time of exports that alternate between two installations: one sends its spans to a collector, the other has no collector. */
export const traces: Measurement = {
  name: 'traces',
  about: 'what an export costs that sends its spans to a collector',
  run: (bench) =>
    bench.using(startTraceCollector(), (collector) =>
      bench.using(prepared(bench, 'without a collector'), (plain) =>
        bench.using(prepared(bench, 'with a collector', collector.environment), async (traced) => {
          const runs: { plain: Run[]; traced: Run[] } = { plain: [], traced: [] };
          for (let run = 0; run < bench.runs; run += 1) {
            bench.progress(`exports ${run + 1} of ${bench.runs}`);
            // The two alternate in being the first of a pair.
            if (run % 2 === 0) runs.plain.push(await coldExport(plain));
            runs.traced.push(await coldExport(traced));
            if (run % 2 === 1) runs.plain.push(await coldExport(plain));
          }
          print(bench, runs, collector.spans.length);
        }),
      ),
    ),
};

async function prepared(bench: Bench, name: string, environment?: Record<string, string>): Promise<TestInstallation> {
  bench.progress(`an installation ${name}`);
  const harness = await startExportInstallation({ renderers: 1, ...(environment && { environment }) });
  if (fromCorpus) await harness.publish(largestProject.folder);
  else await publishArchive(harness, await generatedProject('Generated', generatedPages));
  // The first export of fresh processes includes loading and compiling.
  await exportToLink(harness.admin, harness.domain);
  return harness;
}

async function coldExport(harness: TestInstallation): Promise<Run> {
  await forgetSegments(harness);
  const before = cpuSecondsOfInstallation(harness);
  const { job, seconds } = await exportToLink(harness.admin, harness.domain);
  const after = cpuSecondsOfInstallation(harness);
  const cpuMsPerPage =
    before === undefined || after === undefined ? undefined : ((after - before) * 1_000) / job.pageCount;
  return { seconds, cpuMsPerPage };
}

function print(bench: Bench, { plain, traced }: { plain: Run[]; traced: Run[] }, spans: number): void {
  const row = (name: string, of: (run: Run) => number | undefined) => {
    const [without, withSpans] = [medianOf(plain.map(of)), medianOf(traced.map(of))];
    return [name, shown(without), shown(withSpans), ratio(withSpans, without)];
  };
  bench.print(`Cold exports in turns; medians of ${bench.runs}; ${spans} spans arrived\n`);
  bench.print(
    table(
      ['', 'without', 'with spans', 'to without'],
      [
        row('seconds, request to link', ({ seconds }) => seconds),
        row('CPU ms/page', ({ cpuMsPerPage }) => cpuMsPerPage),
      ],
    ),
  );
  bench.print('  Wall-clock time includes the collector, which runs on the same machine; processor time does not.');
}
