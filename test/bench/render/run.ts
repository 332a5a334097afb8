/*
 * Measures the costs of rendering by stage, as ratios to a reference in the same run: the same pages parsed as plain CommonMark by micromark, whose
 * speed does not depend on our code. `start` measures the start of child processes, `reference` the pages of a large API
 * description. It asserts nothing, because machines differ. `npm run bench:render -- start neutral turso-docs --runs 5 --pages 200` (default:
 * all, 3 runs, 1,000 pages)
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { Code, Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { satteriPageParser } from '#shared/docs/project/satteri-page-parser.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { codeFacts, codeHtml } from '#shared/docs/render/code/code-block.ts';
import { componentRegistry } from '#shared/docs/render/components/registry.ts';
import { type EvaluatedPage, evaluatePage } from '#shared/docs/render/evaluate/evaluate-page.ts';
import { pageMarkdown } from '#shared/docs/render/markdown/page-markdown.ts';
import type { RenderOptions } from '#shared/docs/render/page-slice.ts';
import { type PageInput, renderPage } from '#shared/docs/render/render-page.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { packRendered } from '#shared/export/bundle/pack-export.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { corpusFolder, isThere, localProject } from '../../support/docs-projects.ts';
import { publishedProject } from '../../support/published-project.ts';
import { medianOf, ratio, shown, table } from '../export/measurement.ts';
import { childStarts } from './child-start.ts';
import { neutralProject } from './neutral-corpus.ts';
import { referencePages } from './reference-pages.ts';

const projects: Record<string, () => Promise<ProjectFiles | undefined>> = {
  neutral: () => Promise.resolve(neutralFiles()),
  'mintlify-docs': () => realProject('mintlify-docs'),
  'turso-docs': () => realProject('turso-docs'),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string', default: '3' }, pages: { type: 'string', default: '1000' } },
});
const print = (text: string): void => void process.stdout.write(`${text}\n`);
print(`${availableParallelism()} processors (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}`);
/** Processor time in milliseconds, by stage. */
type Costs = Record<'reference' | 'parse' | 'evaluate' | 'highlight' | 'twin' | 'toHtml' | 'render' | 'pack', number>;

async function measure(name: string, pages: readonly PageInput[], runs: number): Promise<void> {
  const cold = await costsOf(pages);
  const warm: Costs[] = [];
  for (let run = 0; run < runs; run += 1) warm.push(await costsOf(pages));
  const of = (stage: keyof Costs): number => medianOf(warm.map((costs) => costs[stage])) ?? Number.NaN;
  const stages: [string, keyof Costs][] = [
    ['reference: CommonMark by micromark', 'reference'],
    ['parse', 'parse'],
    ['evaluate', 'evaluate'],
    ['highlight', 'highlight'],
    ['twin', 'twin'],
    ['to HTML', 'toHtml'],
    ['a page, all of these', 'render'],
    ['pack', 'pack'],
  ];
  const bytes = pages.reduce((sum, { source }) => sum + Buffer.byteLength(source), 0);
  const whole = (of('render') + of('pack')) / pages.length;
  print(`\n== ${name}: ${pages.length} pages of ${shown(bytes / pages.length)} bytes; medians of ${runs}\n`);
  print(
    table(
      ['', 'CPU ms/page', 'to reference', 'first pass'],
      stages.map(([title, stage]) => [
        title,
        shown(of(stage) / pages.length),
        ratio(of(stage), of('reference')),
        ratio(cold[stage], cold.reference),
      ]),
    ),
  );
  print(`  ${shown(1_000 / whole)} pages/s a processor, rendered and packed; load ${loadavg()[0]?.toFixed(1)}`);
}

/** Processor time of each stage over all pages, and of the whole page; "to HTML" is the remainder after the other stages. */
async function costsOf(pages: readonly PageInput[]): Promise<Costs> {
  const reference = await cost(() => pages.forEach(({ source }) => fromMarkdown(source)));
  const parse = await cost(() => pages.forEach((page) => satteriPageParser.parse(page.source, page.slice.file)));
  const trees: { page: PageInput; evaluated: EvaluatedPage }[] = [];
  const evaluation = await cost(() =>
    pages.forEach((page) => {
      const { variables, latex } = page.slice.settings;
      const source = { file: page.slice.file, source: page.source, dependencies: page.dependencies };
      trees.push({ page, evaluated: evaluatePage(source, { variables, latex }, componentRegistry) });
    }),
  );
  const blocks = trees.flatMap(({ evaluated: { tree } }) => codeIn(tree));
  const highlight = await cost(() =>
    blocks.forEach(({ value, lang, meta }) => {
      const facts = codeFacts({ code: value, language: lang, meta });
      codeHtml(value, facts.language, facts.meta).html();
    }),
  );
  const twin = await cost(() => trees.forEach(({ page, evaluated: of }) => pageMarkdown(page.slice, of)));
  const chunks: ReturnType<typeof renderPage>[] = [];
  const render = await cost(() => pages.forEach((page) => chunks.push(renderPage(page))));
  const pack = await cost(async () => {
    for (let at = 0; at < chunks.length; at += 16) {
      await packRendered(
        'docs',
        chunks.slice(at, at + 16).flatMap(({ files }) => files),
      );
    }
  });
  const evaluate = evaluation - parse;
  return { reference, parse, evaluate, highlight, twin, toHtml: render - evaluation - highlight - twin, render, pack };
}

async function cost(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function codeIn(node: Nodes): Code[] {
  if (node.type === 'code') return [node];
  return 'children' in node ? node.children.flatMap((child) => codeIn(child)) : [];
}

const options: RenderOptions = {
  groups: [],
  onPageError: 'report',
  allowTenantScripts: true,
  deployment: 'client-hosted',
};

/** All pages of a project with their inputs, as a child receives them. */
async function pagesOf(files: ProjectFiles): Promise<PageInput[]> {
  const { model, pageInput } = await publishedProject(files);
  const index = indexSite(model);
  return Promise.all([...index.exported].map((path) => pageInput(index, path, options)));
}

function neutralFiles(): ProjectFiles {
  const texts = new Map(Object.entries(neutralProject()));
  return {
    files: [...texts].map(([path, source]) => ({
      path,
      sha256: sha256Of(source),
      sizeBytes: Buffer.byteLength(source),
    })),
    read: (path) => Promise.resolve(Buffer.from(texts.get(path) ?? '')),
  };
}

async function realProject(name: string): Promise<ProjectFiles | undefined> {
  const folder = `${corpusFolder}/${name}`;
  return isThere(folder, `the project ${name}`) ? localProject(folder) : undefined;
}

if (positionals.length === 0 || positionals.includes('start')) await childStarts(Number(values.runs), print);
if (positionals.length === 0 || positionals.includes('reference')) {
  const mostPages = Number(values.pages);
  await referencePages(options, { runs: Number(values.runs), mostPages, print });
}
for (const [name, read] of Object.entries(projects)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const files = await read();
  if (files) await measure(name, (await pagesOf(files)).slice(0, Number(values.pages)), Number(values.runs));
}
