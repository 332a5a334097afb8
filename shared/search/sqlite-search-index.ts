import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { errorCode } from '#shared/runtime/failures.ts';
import { analyzeQuery } from './analyze-text.ts';
import { rankPassages } from './rank-passages.ts';
import type { FoundPage, FoundPassage, SearchFacets, SearchIndex, SearchQuery, SearchScope } from './search-index.ts';
import { buildSqlitePassages, openSqlitePassages, type SqlitePassages } from './sqlite-passages.ts';

const openFiles = 32;

/**
 * The embedded search index: one SQLite file with an FTS5 table per content version, `<folder>/<organization>/<domain>/<contentVersion>.db`.
 * A file is built under another name, renamed when it is complete, and never changed after that. So readers in any process need no locks, see
 * only complete versions, and can go on reading a file that is replaced.
 */
export function sqliteSearchIndex(folder: string): SearchIndex {
  const open = new LRUCache<string, SqlitePassages>({ max: openFiles, dispose: (passages) => passages.close() });
  const fileOf = ({ organization, domain, contentVersion }: SearchScope): string =>
    join(folder, token(organization), token(domain), `${token(contentVersion)}.db`);

  /** Opens each file once, and again when it was replaced. */
  async function passagesOf(scope: SearchScope): Promise<SqlitePassages | undefined> {
    const file = fileOf(scope);
    const inode = await inodeOf(file);
    const known = open.get(file);
    if (known?.inode === inode) return known;
    open.delete(file);
    if (inode === undefined) return undefined;
    const passages = openSqlitePassages(file, inode);
    open.set(file, passages);
    return passages;
  }

  return {
    async startBuild(scope) {
      const file = fileOf(scope);
      await mkdir(dirname(file), { recursive: true });
      return buildSqlitePassages(file);
    },
    passageCount: async (scope) => (await passagesOf(scope))?.collection.passageCount,
    async search(query) {
      const passages = await passagesOf(query);
      return passages ? searchPassages(passages, query) : [];
    },
    async findPage(scope, path, groups): Promise<FoundPage | undefined> {
      const page = (await passagesOf(scope))?.page(path);
      if (!page || (page.groups.length > 0 && !page.groups.some((group) => groups.includes(group)))) return undefined;
      const { title, language, version } = page;
      return { path, title, language, version };
    },
    facets: async (scope): Promise<SearchFacets | undefined> => (await passagesOf(scope))?.facets,
    async remove(scope) {
      const file = fileOf(scope);
      open.delete(file);
      await rm(file, { force: true });
    },
    check: async () => {
      await mkdir(folder, { recursive: true });
    },
    async close() {
      open.clear();
    },
  };
}

function searchPassages(passages: SqlitePassages, query: SearchQuery): FoundPassage[] {
  const terms = analyzeQuery(query.query);
  if (terms.length === 0) return [];
  const candidates = passages.candidates(terms, query.filter ?? {}, query.exclude ?? []);
  const near = query.near === undefined ? undefined : passages.page(query.near);
  const ranked = rankPassages(terms, candidates, passages.collection, near);
  const perPage = new Map<string, number>();
  const found: FoundPassage[] = [];
  for (const { candidate, score, coverage } of ranked) {
    const count = (perPage.get(candidate.path) ?? 0) + 1;
    if (count > (query.passagesPerPage ?? Number.POSITIVE_INFINITY)) continue;
    perPage.set(candidate.path, count);
    found.push({ ...passages.passage(candidate), score, coverage });
    if (found.length === query.limit) break;
  }
  return found;
}

/** Ids become file names: nothing else may reach the file system. */
function token(id: string): string {
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(id)) throw new TypeError(`"${id}" cannot be part of the name of a search index.`);
  return id;
}

async function inodeOf(file: string): Promise<bigint | undefined> {
  try {
    return (await stat(file, { bigint: true })).ino;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
