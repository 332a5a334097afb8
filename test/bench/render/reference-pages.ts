import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import { parseSpecification } from '#shared/docs/reference/parse-specification.ts';
import type { RenderOptions } from '#shared/docs/render/page-slice.ts';
import { renderPage } from '#shared/docs/render/render-page.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { publishedProject } from '../../support/published-project.ts';
import { medianOf, ratio, shown, table } from '../export/measurement.ts';
import { referenceFile, referenceProject } from './reference-project.ts';

/**
 * Measures the processor time for a large API description: rendering its pages, parsing it once and publishing it, as ratios to `JSON.parse` of the
 * description in the same run. Also prints the sizes of its pages.
 */
export async function referencePages(
  options: RenderOptions,
  { runs, mostPages, print }: { runs: number; mostPages: number; print: (text: string) => void },
): Promise<void> {
  const bytes = new Map(Object.entries(referenceProject()).map(([path, text]) => [path, Buffer.from(text)]));
  const specification = bytes.get(referenceFile) ?? Buffer.alloc(0);
  const files: ProjectFiles = {
    files: [...bytes].map(([path, file]) => ({ path, sha256: sha256Of(file), sizeBytes: file.length })),
    read: (path) => Promise.resolve(bytes.get(path) ?? new Uint8Array()),
  };
  const project = await publishedProject(files);
  const index = indexSite(project.model);
  const paths = project.model.pages.filter(({ reference }) => reference !== undefined).map(({ path }) => path);
  const pages = await Promise.all(paths.slice(0, mostPages).map((path) => project.pageInput(index, path, options)));
  const sizes = { html: [] as number[], twin: [] as number[] };
  const costs: Record<'reference' | 'parse' | 'publication' | 'render', number[]> = {
    reference: [],
    parse: [],
    publication: [],
    render: [],
  };
  // The first round loads and compiles.
  for (let run = 0; run <= runs; run += 1) {
    const made = {
      reference: await cost(() => JSON.parse(specification.toString())),
      parse: await cost(() => parseSpecification(specification, referenceFile)),
      publication: await cost(() => readDocsProject(files, () => Promise.resolve())),
      render: await cost(() => {
        for (const page of pages) {
          const [html, twin] = renderPage(page).files;
          if (run > 0) continue;
          sizes.html.push(html?.body.length ?? 0);
          sizes.twin.push(twin?.body.length ?? 0);
        }
      }),
    };
    if (run > 0) for (const key of keys) costs[key].push(made[key]);
  }
  const of = (key: keyof typeof costs): number => medianOf(costs[key]) ?? Number.NaN;
  const megabytes = (specification.length / 1e6).toFixed(1);
  print(
    `\n== reference pages: ${pages.length} of ${paths.length}, a description of ${megabytes} MB; medians of ${runs}\n`,
  );
  const rows: [string, number][] = [
    ['reference: JSON.parse of the description', of('reference')],
    ['parse, once for a site', of('parse')],
    ['publication with the parse', of('publication')],
    ['100 pages', (of('render') / pages.length) * 100],
  ];
  print(
    table(
      ['', 'CPU ms', 'to reference'],
      rows.map(([title, ms]) => [title, shown(ms), ratio(ms, of('reference'))]),
    ),
  );
  print(`  ${shown((1_000 * pages.length) / of('render'))} pages/s a processor`);
  for (const [title, all] of Object.entries(sizes))
    print(`  bytes of ${title}: p50 ${part(all, 0.5)}, p90 ${part(all, 0.9)}`);
}

const keys = ['reference', 'parse', 'publication', 'render'] as const;

const part = (values: readonly number[], share: number): string =>
  shown(values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]);

async function cost(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
