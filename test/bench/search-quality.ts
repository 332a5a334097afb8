/**
 * How well known questions find their pages: recall@1, recall@5 and MRR by kind, over `known-items.jsonl` of the corpus.
 * `node test/bench/search-quality.ts [folder of the corpus]`; by default `../shared/corpus` beside the project.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { cutPassages, readPage } from '#services/indexer/read-page.ts';
import { decodeSource } from '#shared/docs/project/decode-source.ts';
import { parseFrontmatter } from '#shared/docs/project/parse-frontmatter.ts';
import type { SearchPage, SearchScope } from '#shared/search/search-index.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite-search-index.ts';

type KnownItem = {
  site: string;
  query: string;
  target: string;
  exclude: string[];
  kind: 'link-text' | 'title' | 'description';
};

const corpus = process.argv[2] ?? join(import.meta.dirname, '../../../shared/corpus');
const knownItemsFile = join(corpus, 'known-items.jsonl');
if (!existsSync(knownItemsFile)) {
  console.log(`Skipped: there is no ${knownItemsFile}.`);
  process.exit(0);
}
const items = readFileSync(knownItemsFile, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as KnownItem);

const folder = await mkdtemp(join(tmpdir(), 'bindery-search-quality-'));
const index = sqliteSearchIndex(folder);
try {
  for (const site of new Set(items.map((item) => item.site))) {
    const scope: SearchScope = { organization: 'bench', domain: site, contentVersion: 'corpus' };
    const started = performance.now();
    const pages = readPages(join(corpus, site));
    const parsed = performance.now();
    const build = await index.startBuild(scope);
    await build.add(pages);
    const count = await build.commit();
    console.log(
      `${site}: ${pages.length} pages, ${count} passages; parsed in ${Math.round(parsed - started)} ms, indexed in ${Math.round(performance.now() - parsed)} ms`,
    );
    await measure(
      scope,
      items.filter((item) => item.site === site),
    );
  }
} finally {
  await index.close();
  await rm(folder, { recursive: true, force: true });
}

async function measure(scope: SearchScope, questions: readonly KnownItem[]): Promise<void> {
  const sums = new Map<string, { count: number; at1: number; at5: number; reciprocal: number; milliseconds: number }>();
  for (const item of questions) {
    const started = performance.now();
    const found = await index.search({
      ...scope,
      query: item.query,
      limit: 20,
      passagesPerPage: 1,
      exclude: item.exclude.map((path) => path.slice(1)),
    });
    const milliseconds = performance.now() - started;
    const rank = found.findIndex(({ path }) => `/${path}` === item.target) + 1;
    if (process.env.SHOW_MISSES === item.kind && (rank === 0 || rank > 5)) {
      console.log(
        `  missed "${item.query}" → ${item.target}; found ${found
          .slice(0, 3)
          .map(({ path }) => path)
          .join(', ')}`,
      );
    }
    const sum = sums.get(item.kind) ?? { count: 0, at1: 0, at5: 0, reciprocal: 0, milliseconds: 0 };
    sums.set(item.kind, {
      count: sum.count + 1,
      at1: sum.at1 + (rank === 1 ? 1 : 0),
      at5: sum.at5 + (rank >= 1 && rank <= 5 ? 1 : 0),
      reciprocal: sum.reciprocal + (rank === 0 ? 0 : 1 / rank),
      milliseconds: sum.milliseconds + milliseconds,
    });
  }
  for (const [kind, sum] of sums) {
    const share = (value: number): string => (value / sum.count).toFixed(3);
    console.log(
      `  ${kind.padEnd(12)} ${String(sum.count).padStart(4)} questions  recall@1 ${share(sum.at1)}  recall@5 ${share(sum.at5)}  MRR ${share(sum.reciprocal)}  ${share(sum.milliseconds)} ms each`,
    );
  }
}

/** The default language only, as the questions are; descriptions stay out, as some questions are made of them. */
function readPages(site: string): SearchPage[] {
  // Pages outside the navigation are not searched. It may be spread over several files of settings.
  const navigation = ['', 'config']
    .map((folder) => join(site, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((file) => /(docs|mint|navigation)\.json$/.test(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const snippets = Object.fromEntries(
    readdirSync(join(site, 'snippets'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.mdx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [relative(site, file), readFileSync(file, 'utf8')]),
  );
  return readdirSync(site, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.mdx?$/.test(entry.name) && !/^(LICENSE|README)/.test(entry.name))
    .map((entry) => relative(site, join(entry.parentPath, entry.name)))
    .filter((file) => navigation.includes(`"${file.replace(/\.mdx?$/, '')}"`))
    .sort()
    .map((file) => {
      const source = readFileSync(join(site, file));
      const { data: frontmatter } = parseFrontmatter(decodeSource(source, file).text, file);
      const path = file.replace(/\.mdx?$/, '').replace(/(?<=.)\/index$/, '');
      const title = typeof frontmatter.title === 'string' ? frontmatter.title : (path.split('/').at(-1) ?? path);
      const keywords = Array.isArray(frontmatter.keywords) ? frontmatter.keywords.map(String) : [];
      const passages = cutPassages(readPage({ file, source, dependencies: snippets, title, variables: {} }).sections);
      return {
        path,
        title,
        keywords,
        groups: [],
        boost: 1,
        passages: passages.length > 0 ? passages : [{ anchor: '', heading: '', text: title }],
      };
    });
}
