/**
 * Measures the share of questions that find their pages, as `bindery bench search` does. First come the questions of `known-items.jsonl` of the
 * corpus, by kind; descriptions are left out of the index for questions that are descriptions. Then come the questions of newcomers, in
 * `newcomer-questions.jsonl`: the share with a right page among the first three. `node test/bench/search-quality.ts [folder of the corpus] [engine]`;
 * by default `../shared/corpus` beside the project, in SQLite. The engine `elasticsearch` starts the Elasticsearch of the tests; an address asks one
 * that runs. With `BINDERY_MISTRAL_API_KEY` passages and questions get vectors, which costs what the documentation says; `BINDERY_MISTRAL_BASE_URL`
 * names another server with embeddings, and `BINDERY_EMBEDDING_MODEL` its model.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readQuestions, type SearchQuestion } from '#services/cli/search-bench/questions.ts';
import { askQuestions, recallTable } from '#services/cli/search-bench/recall.ts';
import { indexSite, readSite, searchSite } from '#services/cli/search-bench/site-index.ts';
import { type CutRequest, readAndCut } from '#services/indexer/read-page.ts';
import { embedderSettings, openEmbedder } from '#shared/embedding/open-embedder.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { localProject, ownDocumentation } from '../support/docs-projects.ts';
import { publishedProject } from '../support/published-project.ts';
import { openTestIndex } from './open-test-index.ts';
import { withVectors } from './with-vectors.ts';
import { localChildren } from '../support/local-children.ts';

const corpus = process.argv[2] ?? join(import.meta.dirname, '../../../shared/corpus');
const knownItemsFile = join(corpus, 'known-items.jsonl');
if (!existsSync(knownItemsFile)) {
  console.log(`Skipped: there is no ${knownItemsFile}.`);
  process.exit(0);
}

/** Language of the pages of known items. */
const languages: Record<string, string> = { 'mintlify-docs': 'en' };

const bySite = (questions: readonly SearchQuestion[]) => Map.groupBy(questions, ({ site = '' }) => site);
const known = (await readQuestions(knownItemsFile)).map((item) => ({ ...item, language: languages[item.site ?? ''] }));
const newcomers = await readQuestions(join(import.meta.dirname, 'newcomer-questions.jsonl'));
const { index: byWords, end } = await openTestIndex(process.argv[3] ?? 'sqlite');
const embedder = await openEmbedder(loadConfig(embedderSettings, process.env));
const index = embedder === undefined ? byWords : withVectors(byWords, embedder);
const search = (question: SearchQuestion): Promise<string[]> => searchSite(index, question.site ?? '', question);
try {
  for (const site of bySite([...known, ...newcomers]).keys()) await fill(site);
  await askKnownItems();
  await askNewcomers();
} finally {
  await end();
}

async function fill(site: string): Promise<void> {
  const published = await publishedProject(await localProject(site === 'demo' ? ownDocumentation : join(corpus, site)));
  const pool = localChildren((request) => readAndCut(request as CutRequest));
  const started = process.cpuUsage();
  const pages = await readSite({ pool, slots: 1 }, published);
  const read = process.cpuUsage(started);
  const again = process.cpuUsage();
  const count = await indexSite(index, site, published.model, pages);
  const written = process.cpuUsage(again);
  console.log(
    `${site}: ${pages.length} pages, ${count} passages; ${seconds(read)} s of processor time to read them, ${seconds(written)} s to write two indexes`,
  );
}

function seconds({ user, system }: NodeJS.CpuUsage): string {
  return ((user + system) / 1e6).toFixed(1);
}

async function askKnownItems(): Promise<void> {
  const together = recallTable();
  for (const [site, questions] of bySite(known)) {
    const { table, missed } = await askQuestions(questions, async (question) => {
      const started = performance.now();
      const found = await search(question);
      const rank = found.findIndex((path) => question.pages.includes(path)) + 1;
      together.add(question.kind, rank, performance.now() - started);
      return found;
    });
    for (const { kind, query, pages, found } of missed)
      if (process.env.SHOW_MISSES === kind) console.log(`  missed "${query}" → ${pages[0]}; found ${found.join(', ')}`);
    console.log(`${site}:\n${table.text()}`);
  }
  console.log(`both together:\n${together.text()}`);
}

async function askNewcomers(): Promise<void> {
  let first = 0;
  let firstThree = 0;
  for (const question of newcomers) {
    const found = await search(question);
    const rank = found.findIndex((path) => question.pages.includes(path)) + 1;
    if (rank === 1) first += 1;
    if (rank >= 1 && rank <= 3) firstThree += 1;
    else console.log(`  missed "${question.query}" (${question.site}); found ${found.slice(0, 3).join(', ')}`);
  }
  console.log(
    `newcomers: ${firstThree} of ${newcomers.length} find a right page among the first three, ${first} as the first`,
  );
}
