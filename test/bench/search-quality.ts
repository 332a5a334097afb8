/**
 * How well questions find their pages. First those of `known-items.jsonl` of the corpus: recall@1, recall@5 and MRR by kind; descriptions are left out of the
 * index for questions that are descriptions. Then those of newcomers, in `newcomer-questions.jsonl`: how many have a right page among the first three.
 * `node test/bench/search-quality.ts [folder of the corpus] [engine]`; by default `../shared/corpus` beside the project, in SQLite. The engine
 * `elasticsearch` starts the Elasticsearch of the tests; an address asks one that runs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { readAndCut, type CutRequest } from '#services/indexer/read-page.ts';
import { readSitePages } from '#services/indexer/site-pages.ts';
import type { SearchPage, SearchScope } from '#shared/search/search-index.ts';
import { localProject, ownDocumentation } from '../support/docs-projects.ts';
import { publishedProject } from '../support/published-project.ts';
import { readKnownItems, recallTable } from './known-items.ts';
import { openTestIndex } from './open-test-index.ts';

const corpus = process.argv[2] ?? join(import.meta.dirname, '../../../shared/corpus');
const knownItemsFile = join(corpus, 'known-items.jsonl');
if (!existsSync(knownItemsFile)) {
  console.log(`Skipped: there is no ${knownItemsFile}.`);
  process.exit(0);
}

type NewcomerQuestion = { site: string; query: string; pages: string[] };
const newcomers = readFileSync(join(import.meta.dirname, 'newcomer-questions.jsonl'), 'utf8')
  .split('\n')
  .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as NewcomerQuestion]));
const items = readKnownItems(knownItemsFile);

/** Known items are about the pages of this language. */
const languages: Record<string, string> = { 'mintlify-docs': 'en' };

const scopeOf = (site: string, contentVersion: string): SearchScope => ({
  organization: 'bench',
  domain: site,
  contentVersion,
});
const { index, end } = await openTestIndex(process.argv[3] ?? 'sqlite');
try {
  for (const site of new Set([...items, ...newcomers].map((question) => question.site))) await fill(site);
  measureTimes(await askKnownItems());
  await askNewcomers();
} finally {
  await end();
}

/** As publication and indexer do it: with the generated pages, and with all languages. */
async function fill(site: string): Promise<void> {
  const project = await localProject(site === 'demo' ? ownDocumentation : join(corpus, site));
  const { model, read } = await publishedProject(project);
  const scope = scopeOf(site, 'whole');
  const content = {
    model,
    source: read,
    text: async (file: Parameters<typeof read>[0]) => String(Buffer.from(await read(file))),
  };
  const pool = { run: async (request: unknown) => readAndCut(request as CutRequest) };
  const context = { pool, slots: 1, logger: pino({ level: 'silent' }) };
  const started = process.cpuUsage();
  const pages: SearchPage[] = [];
  for await (const some of readSitePages(context, scope, content, () => true, new AbortController().signal))
    pages.push(...some);
  const parsed = process.cpuUsage(started);
  const again = process.cpuUsage();
  const build = await index.startBuild(scope);
  await build.add(pages);
  const count = await build.commit();
  const written = process.cpuUsage(again);
  console.log(
    `${site}: ${pages.length} pages, ${count} passages; ${seconds(parsed)} s of processor time to read them, ${seconds(written)} s to write the index`,
  );
  if (!items.some((item) => item.site === site && item.kind === 'description')) return;
  const bare = await index.startBuild(scopeOf(site, 'bare'));
  const descriptions = new Map(model.pages.map(({ path, description }) => [path, description?.trim() ?? '']));
  await bare.add(pages.map((page) => withoutDescription(page, descriptions.get(page.path) ?? '')));
  await bare.commit();
}

function withoutDescription(page: SearchPage, description: string): SearchPage {
  const [first, ...others] = page.passages;
  if (description === '' || first === undefined || !first.text.startsWith(description)) return page;
  const text = first.text.slice(description.length).trim();
  if (text === '' && others.length > 0) return { ...page, passages: others };
  return { ...page, passages: [{ ...first, text: text === '' ? page.title : text }, ...others] };
}

function seconds({ user, system }: NodeJS.CpuUsage): string {
  return ((user + system) / 1e6).toFixed(1);
}

/** Answers how long each search took, by site. */
async function askKnownItems(): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  const tables = new Map<string, ReturnType<typeof recallTable>>();
  for (const item of items) {
    const started = performance.now();
    const found = await index.search({
      ...scopeOf(item.site, item.kind === 'description' ? 'bare' : 'whole'),
      query: item.query,
      limit: 20,
      passagesPerPage: 1,
      exclude: item.exclude.flatMap(asPaths),
      filter: { language: languages[item.site] },
    });
    const milliseconds = performance.now() - started;
    times.set(item.site, [...(times.get(item.site) ?? []), milliseconds]);
    const rank = found.findIndex(({ path }) => asPaths(item.target).includes(path)) + 1;
    if (process.env.SHOW_MISSES === item.kind && (rank === 0 || rank > 5)) {
      const first = found.slice(0, 3).map(({ path }) => path);
      console.log(`  missed "${item.query}" → ${item.target}; found ${first.join(', ')}`);
    }
    for (const site of [item.site, 'both together']) {
      const table = tables.get(site) ?? recallTable();
      tables.set(site, table);
      table.add(item.kind, rank, milliseconds);
    }
  }
  for (const [site, table] of tables) {
    console.log(`${site}:`);
    table.print();
  }
  return times;
}

/** `/guides` may be the page `guides/index`. */
function asPaths(address: string): string[] {
  return [address.slice(1), `${address.slice(1)}/index`];
}

function measureTimes(times: ReadonlyMap<string, number[]>): void {
  for (const [site, all] of times) {
    const sorted = all.toSorted((a, b) => a - b);
    const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
    console.log(`${site}: half of the searches within ${at(0.5)} ms, 99 of 100 within ${at(0.99)} ms`);
  }
}

async function askNewcomers(): Promise<void> {
  let first = 0;
  let firstThree = 0;
  for (const { site, query, pages } of newcomers) {
    const found = await index.search({ ...scopeOf(site, 'whole'), query, limit: 10, passagesPerPage: 1 });
    const rank = found.findIndex(({ path }) => pages.some((page) => asPaths(page).includes(path))) + 1;
    if (rank === 1) first += 1;
    if (rank >= 1 && rank <= 3) firstThree += 1;
    else
      console.log(
        `  missed "${query}" (${site}); found ${found
          .slice(0, 3)
          .map(({ path }) => path)
          .join(', ')}`,
      );
  }
  console.log(
    `newcomers: ${firstThree} of ${newcomers.length} find a right page among the first three, ${first} as the first`,
  );
}
