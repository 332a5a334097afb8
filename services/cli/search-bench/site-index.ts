import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { pageReader } from '#services/indexer/cut-pages.ts';
import { type ReadingContext, readSitePages, type SiteContent } from '#services/indexer/site-pages.ts';
import { analyzeProject, projectPool } from '#shared/docs/project/analyze-project.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { partsOf } from '#shared/docs/project/site-model-parts.ts';
import type { MadeFile } from '#shared/docs/reference/site-reference.ts';
import { type ChildPool, childPool } from '#shared/docs/sandbox/child-pool.ts';
import { requireNativeParser } from '#shared/docs/sandbox/native-code.ts';
import type { SearchIndex, SearchPage, SearchScope } from '#shared/search/search-index.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite/sqlite-search-index.ts';
import type { AskedPage, SearchQuestion } from './questions.ts';

const mostFound = 20;
const whole = Number.MAX_SAFE_INTEGER;

/** Two versions of a site: complete, and without descriptions for questions that are descriptions. */
const versions = { whole: 'whole', bare: 'without-descriptions' };
const scopeOf = (site: string, contentVersion: string): SearchScope => ({
  organization: 'bench',
  domain: site,
  contentVersion,
});

/** The pages of a site as publisher and indexer make them: with the generated ones, in all languages. */
export async function readSite(
  context: Pick<ReadingContext, 'pool' | 'slots'>,
  { model, read }: { model: SiteModel; read: SiteContent['source'] },
): Promise<SearchPage[]> {
  const text: SiteContent['text'] = async (file, signal) => Buffer.from(await read(file, signal)).toString();
  const silent = { ...context, logger: pino({ level: 'silent' }) };
  const content = { ...partsOf(model), source: read, text };
  const pages: SearchPage[] = [];
  for await (const some of readSitePages(
    silent,
    scopeOf('site', versions.whole),
    content,
    () => true,
    new AbortController().signal,
  ))
    pages.push(...some);
  return pages;
}

/** Writes both versions of a site. Returns the number of its passages. */
export async function indexSite(
  index: SearchIndex,
  site: string,
  { pages, synonyms }: Pick<SiteModel, 'pages' | 'synonyms'>,
  read: readonly SearchPage[],
): Promise<number> {
  const descriptions = new Map(pages.map(({ path, description }) => [path, description?.trim() ?? '']));
  const bare = await index.startBuild(scopeOf(site, versions.bare), { synonyms });
  await bare.add(read.map((page) => withoutDescription(page, descriptions.get(page.path) ?? '')));
  await bare.commit();
  const build = await index.startBuild(scopeOf(site, versions.whole), { synonyms });
  await build.add(read);
  return build.commit();
}

function withoutDescription(page: SearchPage, description: string): SearchPage {
  const [first, ...others] = page.passages;
  if (description === '' || first === undefined || !first.text.startsWith(description)) return page;
  const text = first.text.slice(description.length).trim();
  if (text === '' && others.length > 0) return { ...page, passages: others };
  return { ...page, passages: [{ ...first, text: text === '' ? page.title : text }, ...others] };
}

/** Paths of the pages that a question finds, the best first. */
export async function searchSite(
  index: SearchIndex,
  site: string,
  { query, exclude, kind, language }: SearchQuestion,
): Promise<string[]> {
  const version = kind === 'description' ? versions.bare : versions.whole;
  const found = await index.search({
    ...{ ...scopeOf(site, version), query, exclude, limit: mostFound, passagesPerPage: 1 },
    filter: { language },
  });
  return found.map(({ path }) => path);
}

/** A docs project, searched in place: nothing is published. `close` removes its index. */
export async function openProjectSite(project: ProjectFiles): Promise<{
  pages: AskedPage[];
  search(question: SearchQuestion): Promise<string[]>;
  /** True if the search knows a page at this path. */
  has(path: string): Promise<boolean>;
  close(): Promise<void>;
}> {
  requireNativeParser();
  const { model, read } = await readProject(project);
  const slots = Math.min(4, availableParallelism());
  const pages = await withPool(childPool({ ...pageReader, slots }), (pool) =>
    readSite({ pool, slots }, { model, read }),
  );
  const folder = await mkdtemp(join(tmpdir(), 'bindery-bench-search-'));
  const index = sqliteSearchIndex(folder);
  const close = async (): Promise<void> => {
    await index.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await indexSite(index, 'project', model, pages);
  } catch (error) {
    await close();
    throw error;
  }
  const descriptions = new Map(model.pages.map(({ path, description }) => [path, description]));
  return {
    // Only pages that everybody may read are measured.
    pages: pages
      .filter(({ groups }) => groups.length === 0)
      .map(({ path, title, language, links }) => ({
        path,
        title,
        language,
        links,
        description: descriptions.get(path),
      })),
    search: (question) => searchSite(index, 'project', question),
    has: async (path) => pages.some((page) => page.path === path),
    close,
  };
}

async function withPool<T>(pool: ChildPool, work: (pool: ChildPool) => Promise<T>): Promise<T> {
  try {
    return await work(pool);
  } finally {
    await pool.close();
  }
}

/** The model of a project, and its files by their hashes, in place: nothing is published. */
export async function readProject(project: ProjectFiles): Promise<{ model: SiteModel; read: SiteContent['source'] }> {
  const made = new Map<string, string>();
  const keep = ({ sha256, text }: MadeFile): void => void made.set(sha256, text);
  const { project: docs } = await withPool(projectPool({ slots: 1 }), (pool) =>
    analyzeProject(pool, project, { organization: 'local', keep }),
  );
  const read: SiteContent['source'] = async ({ path, sha256 }) => {
    const text = made.get(sha256);
    return text === undefined ? project.read(path, whole) : Buffer.from(text);
  };
  return { model: { ...docs, contentVersion: `cv_${'0'.repeat(32)}` }, read };
}
