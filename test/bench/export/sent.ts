import { countingProxy, type StoreTraffic } from '../../support/counting-proxy.ts';
import type { TestInstallation } from '../../support/start-installation.ts';
import { bucketOn, startVersityGateway } from '../../support/start-versitygw.ts';
import { published, timedExport, writeProject } from './change.ts';
import { startExportInstallation } from './export-installation.ts';
import { type Bench, type Measurement, medianOf, ratio, shown, table, temporaryFolder } from './measurement.ts';

type Step = StoreTraffic & { name: string; bundleBytes?: number };

/** Bytes and requests of one changed page on an S3 server, as the site grows. */
export const sent: Measurement = {
  name: 'sent',
  about:
    'bytes and requests to a real S3 server for one changed page, by the size of the site (--sizes 1000,5000,25000)',
  async run(bench) {
    const rows: string[][] = [];
    for (const pages of bench.sizes) {
      const steps = await measured(bench, pages);
      const inMedian = (name: string, value: (step: Step) => number | undefined) =>
        medianOf(steps.filter((step) => step.name === name).map(value));
      const bundle = inMedian('export, one page changed', ({ bundleBytes }) => bundleBytes) ?? NaN;
      for (const name of new Set(steps.map((step) => step.name))) {
        const bytes = inMedian(name, ({ sentBytes }) => sentBytes) ?? NaN;
        rows.push([
          `${shown(pages)} pages: ${name}`,
          shown(bytes / 1e6),
          ratio(bytes, bundle),
          shown((inMedian(name, ({ readBytes }) => readBytes) ?? NaN) / 1e6),
          ...(['PUT', 'GET', 'HEAD'] as const).map((method) =>
            shown(inMedian(name, ({ requests }) => requests[method] ?? 0)),
          ),
        ]);
      }
    }
    bench.print(`One changed page on an S3 server: generated projects; medians of ${bench.runs}\n`);
    bench.print(table(['', 'MB sent', 'to the bundle', 'MB read', 'PUT', 'GET', 'HEAD'], rows));
  },
};

const measured = (bench: Bench, pages: number): Promise<Step[]> =>
  bench.using(temporaryFolder(), async ({ path: folder }) => {
    const changePage = await writeProject(folder, pages);
    const gateway = await startVersityGateway();
    const proxy = await countingProxy(Number(new URL(gateway.endpoint).port));
    try {
      const bucket = await bucketOn({ ...gateway, endpoint: `http://127.0.0.1:${proxy.port}` }, 'bindery');
      return await bench.using(startExportInstallation({ copies: {}, environment: bucket }), async (harness) => {
        const steps: Step[] = [];
        const step = async (
          name: string,
          work: (harness: TestInstallation) => Promise<{ seconds: number; bundleBytes?: number }>,
        ) => {
          proxy.reset();
          const { bundleBytes } = await work(harness);
          steps.push({ name, ...proxy.traffic(), ...(bundleBytes !== undefined && { bundleBytes }) });
        };
        bench.progress(`${pages} pages: the first publication and export`);
        await step('first publication', () => published(harness, folder));
        await step('first export', timedExport);
        for (let run = 0; run < bench.runs; run += 1) {
          bench.progress(`${pages} pages, run ${run + 1}`);
          await changePage(run);
          await step('publication, one page changed', () => published(harness, folder));
          await step('export, one page changed', timedExport);
        }
        return steps;
      });
    } finally {
      await proxy.close();
      await gateway.stop();
    }
  });
