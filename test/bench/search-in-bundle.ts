/**
 * Measures the search in a bundle: its size, the share of known questions that find their pages (`known-items.jsonl`, as in `search-quality.ts`), and
 * the waiting time on a slow phone. It asserts nothing. `node test/bench/search-in-bundle.ts [project of the corpus]`; by default mintlify-docs.
 * Chromium is needed only for the waiting.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { readQuestions, type SearchQuestion } from '#services/cli/search-bench/questions.ts';
import { recallTable } from '#services/cli/search-bench/recall.ts';
import { findServer } from '#infra/setup/find-server.ts';
import type { SearchIndex, SearchSections } from '#shared/docs/render/site/page-globals.ts';
import { serveFolder } from '../browser/site-folder.ts';
import { corpusFolder, isThere, localProject } from '../support/docs-projects.ts';
import { openBrowser } from '../support/open-browser.ts';
import { publishedProject } from '../support/published-project.ts';
import { unpackedSite } from '../support/unpacked-site.ts';

const name = process.argv[2] ?? 'mintlify-docs';
const project = join(corpusFolder, name);
const knownItems = join(corpusFolder, 'known-items.jsonl');
if (!isThere(project, name) || !isThere(knownItems, 'known-items.jsonl')) process.exit(0);

const runs = 5;

/** Runs in the page and measures from the first tap. */
const waiting = `(async () => {
  const until = (test) => new Promise((resolve) => {
    const look = () => { const found = test(); if (found) resolve(found); else requestAnimationFrame(look); };
    look();
  });
  const type = (input, text) => { input.value = text; input.dispatchEvent(new Event('input')); };
  const started = performance.now();
  document.querySelector('.search-entry').click();
  const input = await until(() => document.querySelector('.search-dialog[open] input'));
  const dialog = performance.now() - started;
  type(input, 'configure redirects');
  await until(() => document.querySelector('.search-group'));
  const first = performance.now() - started;
  await until(() => !document.querySelector('.search-dialog.is-busy'));
  const whole = performance.now() - started;
  const again = performance.now();
  type(input, 'api key');
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return { dialog, 'first result': first, 'all results': whole, 'next question': performance.now() - again };
})()`;

const folder = await mkdtemp(join(tmpdir(), 'bindery-search-in-bundle-'));
try {
  await unpackedSite(await publishedProject(await localProject(project)), folder);
  const pageCount = measureSizes();
  measureAnswers((await readQuestions(knownItems)).filter(({ site }) => site === name));
  if (findServer('chromium') !== undefined && pageCount > 0) await measureWaiting();
} finally {
  await rm(folder, { recursive: true, force: true });
}

function measureSizes(): number {
  const read = (file: string): Buffer => readFileSync(join(folder, '_bindery', file));
  const parts = readdirSync(join(folder, '_bindery/search')).map((file) => read(`search/${file}`));
  const files = [read('search-index.js'), ...parts];
  const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);
  const plain = sum(files.map((file) => file.length));
  const packed = sum(files.map((file) => gzipSync(file).length));
  const { pages } = readIndex().index;
  const script = read('search.js');
  console.log(
    `${name}: ${pages.length} pages in ${parts.length} parts; index ${plain} bytes, ${packed} gzip; a page ${Math.round(plain / pages.length)} bytes, ${Math.round(packed / pages.length)} gzip; search.js ${script.length} bytes, ${gzipSync(script).length} gzip`,
  );
  return pages.length;
}

/** The index, with the context in which its files ran. */
function readIndex() {
  const window: { binderySearchIndex?: SearchIndex } = {};
  const parts: [number, SearchSections][] = [];
  const binderySearchPart = (number: number, sections: SearchSections) => parts.push([number, sections]);
  const context = createContext({ window, binderySearchPart, Intl });
  const run = (file: string) => runInContext(readFileSync(file, 'utf8'), context);
  run(join(folder, '_bindery/search-index.js'));
  for (const file of readdirSync(join(folder, '_bindery/search'))) run(join(folder, '_bindery/search', file));
  const index = window.binderySearchIndex;
  if (index === undefined) throw new Error('the bundle has no search index');
  return { index, context, parts };
}

/**
 * Searches only pages of the default language, because the questions are in it. Descriptions are left out, because some questions are descriptions,
 * and so are the boosts of authors, which are meant for other questions.
 */
function measureAnswers(questions: readonly SearchQuestion[]): void {
  const { index, context, parts } = readIndex();
  const scripts = join(import.meta.dirname, '../../shared/docs/render/site/scripts/search');
  for (const script of ['words', 'engine']) runInContext(readFileSync(join(scripts, `${script}.js`), 'utf8'), context);
  for (const page of index.pages) {
    page[2] = '';
    page.splice(6, 1);
  }
  context['index'] = index;
  runInContext('var engine = searchEngine(index)', context);
  const isAsked = ([language]: SearchIndex['scopes'][number]) => language === '' || language === 'en';
  for (const [number, sections] of parts.toSorted(([a], [b]) => a - b)) {
    const first = index.parts.slice(0, number).reduce((sum, count) => sum + count, 0);
    const scope = index.scopes[index.pages[first]?.[3] ?? 0];
    if (scope === undefined || !isAsked(scope)) continue;
    Object.assign(context, { first, sections });
    runInContext('engine.add(first, sections)', context);
  }
  const table = recallTable();
  for (const { query, pages, exclude, kind } of questions) {
    context['query'] = query;
    const started = performance.now();
    const found = runInContext('engine.find(query, "en").matches', context) as { page: number }[];
    const milliseconds = performance.now() - started;
    const paths = new Set(found.map(({ page }) => index.pages[page]?.[0] ?? ''));
    const rank = [...paths].filter((path) => !exclude.includes(path)).findIndex((path) => pages.includes(path)) + 1;
    table.add(kind, rank, milliseconds);
  }
  console.log(table.text());
}

/** Emulates a phone: a quarter of this machine's speed, and 9 Mbit/s with 40 ms of latency, except from a folder. */
async function measureWaiting(): Promise<void> {
  const start = existsSync(join(folder, 'quickstart.html')) ? 'quickstart.html' : 'index.html';
  const host = await serveFolder(folder);
  const browser = await openBrowser();
  try {
    for (const [from, address] of [
      ['from a web server', `${host.url}/docs/${start}`],
      ['from a folder', `file://${folder}/${start}`],
    ] as const) {
      const waits: Record<string, number[]> = {};
      for (let run = 0; run < runs; run += 1) {
        const context = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true });
        const page = await context.newPage();
        await page.goto(address);
        const session = await context.newCDPSession(page);
        await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
        if (address.startsWith('http')) {
          await session.send('Network.enable');
          const network = { offline: false, latency: 40, downloadThroughput: 9e6 / 8, uploadThroughput: 3e6 / 8 };
          await session.send('Network.emulateNetworkConditions', network);
        }
        const waited = await page.evaluate<Record<string, number>>(waiting);
        for (const [what, milliseconds] of Object.entries(waited)) (waits[what] ??= []).push(milliseconds);
        await context.close();
      }
      const medians = Object.entries(waits).map(([what, all]) => {
        return `${what} ${Math.round(all.toSorted((a, b) => a - b)[Math.floor(runs / 2)] ?? 0)} ms`;
      });
      console.log(`  ${from}, a quarter of the speed, median of ${runs}: ${medians.join(', ')}`);
    }
  } finally {
    await browser.close();
    await host.close();
  }
}
