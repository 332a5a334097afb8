/**
 * Measures the costs of the search as ratios to a reference in the same run: indexing a site, indexing one changed page, answering a question, and
 * keeping many domains open. It asserts nothing. `node test/bench/search-index.ts [engine] [project of the corpus]`; by default in SQLite over
 * mintlify-docs, or our own documentation if the corpus is missing. The engine `elasticsearch` starts the Elasticsearch of the tests; an address uses
 * a running one.
 */
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { link, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fromMarkdown } from 'mdast-util-from-markdown';
import pino from 'pino';
import { pageReader } from '#services/indexer/cut-pages.ts';
import { readQuestions } from '#services/cli/search-bench/questions.ts';
import { indexContent } from '#services/indexer/index-content.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { withSnapshot } from '#shared/docs/sandbox/child-snapshot.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { analyzeText } from '#shared/search/ranking/analyze-text.ts';
import { aliasOf } from '#shared/search/elasticsearch/elasticsearch-connection.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite/sqlite-search-index.ts';
import { folderObjectStore } from '#shared/storage/folder-object-store.ts';
import { corpusFolder, localProject, ownDocumentation } from '../support/docs-projects.ts';
import { storeProject } from '../support/stored-project.ts';
import { cpuSecondsOf, residentBytes } from './export/process-usage.ts';

import { openTestIndex } from './open-test-index.ts';

const openFolder = process.env.BENCH_OPEN_FOLDER;
if (openFolder !== undefined) {
  await openDomains(openFolder, Number(process.argv[2]));
  process.exit(0);
}

const engine = process.argv[2] ?? 'sqlite';
const named = join(corpusFolder, process.argv[3] ?? 'mintlify-docs');
const projectFolder = existsSync(named) ? named : ownDocumentation;
const site = projectFolder === named ? (process.argv[3] ?? 'mintlify-docs') : 'our own documentation';

const rounds = 5;
const domainCount = 500;
const warmUps = 100;
const scopeOf = (contentVersion: string) => ({ organization: 'bench', domain: 'docs', contentVersion });
/** The content version of a round: the first is the whole project, each further one has a changed page. */
const versionOf = (round: number): string => `cv_${String(round).padStart(32, '0')}`;
const whole = versionOf(0);

const folder = await mkdtemp(join(tmpdir(), 'bindery-bench-search-index-'));
const objectStore = folderObjectStore({
  folder: join(folder, 'objects'),
  publicBaseUrl: 'http://x',
});
const { index: searchIndex, place, end } = await openTestIndex(engine);
const logger = pino({ level: 'silent' });
const pool = childPool({ ...(await withSnapshot(pageReader, logger)), slots: 1 });
const enginePids = 'pid' in place && place.pid !== undefined ? [place.pid] : [];
try {
  console.log(`${site}, ${engine}`);
  const project = await localProject(projectFolder);
  const model = await storeProject(objectStore, scopeOf(whole), project);
  await measureIndexing(project);
  await measureChange(project, model.pages[Math.floor(model.pages.length / 2)]?.file ?? '');
  await measureQueries(model.pages.map(({ title }) => title));
  if ('folder' in place) await measureDomains(join(place.folder, 'bench', 'docs', `${whole}.db`));
} finally {
  await pool.close();
  await end();
  await objectStore.close();
  await rm(folder, { recursive: true, force: true });
}

/** Processor time of this process, its children that read pages, and a started engine, in milliseconds. */
function processorTimes(): { ours: number; engine: number } {
  const all = (cpuSecondsOf([process.pid]) ?? 0) * 1_000;
  const ofEngine = (cpuSecondsOf(enginePids) ?? 0) * 1_000;
  return { ours: all - ofEngine, engine: ofEngine };
}

async function index(contentVersion: string, from: string | undefined) {
  const before = processorTimes();
  const context = { objectStore, searchIndex, pool, slots: 1, logger };
  const passages = await indexContent(context, scopeOf(contentVersion), from, AbortSignal.timeout(600_000));
  const after = processorTimes();
  return { passages, ours: after.ours - before.ours, engine: after.engine - before.engine };
}

async function measureIndexing(project: ProjectFiles): Promise<void> {
  const sources = await Promise.all(
    project.files.flatMap(({ path, sizeBytes }) => (/\.mdx?$/.test(path) ? [project.read(path, sizeBytes)] : [])),
  );
  const before = processorTimes();
  for (const source of sources) fromMarkdown(Buffer.from(source).toString('utf8'));
  const reference = processorTimes().ours - before.ours;
  const cold = await index(whole, undefined);
  const warm = await index(whole, undefined);
  console.log(
    `  indexing, ${cold.passages} passages, processor time of indexer and children; against ${sources.length} files parsed as plain CommonMark (${reference.toFixed(0)} ms):`,
  );
  for (const [name, { ours, engine: ofEngine }] of Object.entries({
    'with a fresh child': cold,
    'with a warm one': warm,
  }))
    console.log(
      `    ${name}: ${ours.toFixed(0)} ms (${(ours / reference).toFixed(2)})${ofEngine > 0 ? `, the engine ${ofEngine.toFixed(0)} ms` : ''}`,
    );
}

async function measureChange(project: ProjectFiles, file: string): Promise<void> {
  const all = await index(whole, undefined);
  const times: { ours: number; engine: number }[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const version = versionOf(round);
    await storeProject(objectStore, scopeOf(version), withLine(project, file, `Round ${round} of wombats.`));
    times.push(await index(version, versionOf(round - 1)));
  }
  times.sort((a, b) => a.ours - b.ours);
  const median = times[Math.floor(rounds / 2)] ?? all;
  console.log(
    `  one changed page, processor time (the median of ${rounds}): ${median.ours.toFixed(0)} ms, ${(median.ours / all.ours).toFixed(3)} of all pages${median.engine > 0 ? `; the engine ${median.engine.toFixed(0)} ms` : ''}`,
  );
  for (let round = 1; round <= rounds; round += 1) await searchIndex.remove(scopeOf(versionOf(round)));
}

function withLine(project: ProjectFiles, file: string, line: string): ProjectFiles {
  const read: ProjectFiles['read'] = async (path, most) => {
    const bytes = await project.read(path, most);
    return path === file ? Buffer.concat([bytes, Buffer.from(`\n\n${line}\n`)]) : bytes;
  };
  const files = project.files.map((one) =>
    one.path === file
      ? { ...one, sha256: sha256Of(`${one.sha256} ${line}`), sizeBytes: one.sizeBytes + line.length + 3 }
      : one,
  );
  return { files, read };
}

async function measureQueries(titles: readonly string[]): Promise<void> {
  const known = join(corpusFolder, 'known-items.jsonl');
  const items = existsSync(known) ? (await readQuestions(known)).filter((item) => item.site === site) : [];
  const queries = items.length > 0 ? items.map(({ query }) => query) : titles;
  const bare = await bareQuery();
  const ours = (query: string) => searchIndex.search({ ...scopeOf(whole), query, limit: 10, passagesPerPage: 1 });
  for (const query of queries.slice(0, warmUps)) await Promise.all([ours(query), bare.ask(query)]);
  const [searched, reference] = [await askAll(queries, ours), await askAll(queries, (query) => bare.ask(query))];
  bare.close();
  console.log(`  ${queries.length} questions, against the engine's own query for the ten best of the same words:`);
  for (const [name, value] of Object.entries(searched)) {
    const other = reference[name as keyof typeof reference] ?? 0;
    console.log(
      `    ${name}: ${value.toFixed(2)} ms, the engine's ${other.toFixed(2)} ms (${(value / other).toFixed(2)})`,
    );
  }
}

async function askAll(queries: readonly string[], ask: (query: string) => Promise<unknown>) {
  const times: number[] = [];
  const cpu: number[] = [];
  const before = processorTimes();
  for (const query of queries) {
    const started = performance.now();
    const used = process.cpuUsage();
    await ask(query);
    times.push(performance.now() - started);
    const { user, system } = process.cpuUsage(used);
    cpu.push((user + system) / 1_000);
  }
  const ofEngine = (processorTimes().engine - before.engine) / queries.length;
  const at = (all: number[], share: number): number =>
    all.toSorted((a, b) => a - b)[Math.floor(all.length * share)] ?? 0;
  return {
    'half of them within': at(times, 0.5),
    '99 of 100 within': at(times, 0.99),
    'processor time of half of them': at(cpu, 0.5),
    'processor time of 99 of 100': at(cpu, 0.99),
    ...(enginePids.length > 0 && { 'processor time of the engine, on average': ofEngine }),
  };
}

/** Time of the engine alone: one query for the words, without our ranking. */
async function bareQuery(): Promise<{ ask(query: string): Promise<unknown>; close(): void }> {
  if ('folder' in place) {
    const db = new DatabaseSync(join(place.folder, 'bench', 'docs', `${whole}.db`), { readOnly: true });
    const find = db.prepare(
      'SELECT p.heading, p.text FROM passages p WHERE p.id IN (SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 10)',
    );
    return {
      async ask(query) {
        const terms = analyzeText(query);
        return terms.length === 0 ? [] : find.all(terms.map((term) => `"${term}"`).join(' OR '));
      },
      close: () => db.close(),
    };
  }
  const { url, prefix } = place;
  const fields = ['terms.title', 'terms.path', 'terms.heading', 'terms.text'];
  return {
    async ask(query) {
      const match = { multi_match: { query: analyzeText(query).join(' '), fields, type: 'most_fields' } };
      const body = {
        size: 10,
        query: { bool: { must: [match], filter: [{ term: { contentVersion: whole } }] } },
        _source: ['shown'],
      };
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/${aliasOf({ prefix })}/_search?routing=bench/docs`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return answer.json();
    },
    close: () => undefined,
  };
}

/** Each domain has a separate file name. The files are links to one file, so that they fit on a disk. */
async function measureDomains(file: string): Promise<void> {
  for (let at = 0; at < domainCount; at += 1) {
    await mkdir(join(folder, 'many', 'bench', `docs-${at}`), { recursive: true });
    await link(file, join(folder, 'many', 'bench', `docs-${at}`, `${whole}.db`));
  }
  const env = { ...process.env, BENCH_OPEN_FOLDER: join(folder, 'many') };
  const child = fork(import.meta.filename, [String(domainCount), whole], { env });
  const [{ first, all }] = (await once(child, 'message')) as [{ first: number; all: number }];
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
  console.log(
    `  ${domainCount} domains that were searched: ${megabytes(all - first)} MB more than one, whose process has ${megabytes(first)} MB (${(all / first).toFixed(2)})`,
  );
}

async function openDomains(inFolder: string, count: number): Promise<void> {
  const opened = sqliteSearchIndex(inFolder);
  const search = async (at: number): Promise<void> => {
    for (const query of ['install and configure', 'api key', 'deploy a site', 'how do I change the color'])
      await opened.search({
        organization: 'bench',
        domain: `docs-${at}`,
        contentVersion: process.argv[3] ?? '',
        query,
        limit: 10,
      });
  };
  // The first questions take some memory permanently, whatever their domain, so it is taken before measuring.
  for (let round = 0; round < 50; round += 1) await search(0);
  const first = residentBytes(process.pid) ?? 0;
  for (let at = 0; at < count; at += 1) await search(at);
  process.send?.({ first, all: residentBytes(process.pid) ?? 0 });
  await opened.close();
}
