import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { errorCode } from '#shared/runtime/failures.ts';
import { type FoundPage, type SearchIndex, type SearchScope, SearchUnavailable } from './search-index.ts';
import { searchPassages } from './search-passages.ts';
import { buildSqlitePassages } from './sqlite-build.ts';
import { startSqliteVectors, type VectorMatrix } from './vectors/sqlite-vectors.ts';
import { isDamage, openSqlitePassages, type SqlitePassages, unavailable } from './sqlite-passages.ts';

const openFiles = 64;
/** Of vectors of all files together, in memory: some 100,000 of 1,024 numbers. */
const keptVectorBytes = 128_000_000;

/**
 * The embedded search index: one SQLite file with FTS5 tables per content version, `<folder>/<organization>/<domain>/<contentVersion>.db`.
 * A file is built under another name, from a copy of the version before, renamed when it is complete, and never changed after that. So readers in any
 * process need no locks, see only complete versions, and can go on reading a file that is replaced. A damaged file is put aside and is as one that is not there.
 */
export function sqliteSearchIndex(folder: string): SearchIndex {
  const open = new LRUCache<string, SqlitePassages>({ max: openFiles, dispose: (passages) => passages.close() });
  const matrices = new LRUCache<DatabaseSync, VectorMatrix>({
    maxSize: keptVectorBytes,
    sizeCalculation: ({ numbers, ids }) => 1 + numbers.byteLength + ids.byteLength,
  });
  const sound = new Set<bigint>();
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
    const passages = openSqlitePassages(file, inode, matrices);
    if (passages !== undefined) open.set(file, passages);
    return passages;
  }

  /** `use` with the version's passages. Where the file turns out to be damaged it is put aside, so that it is built again. */
  async function withPassages<T>(
    scope: SearchScope,
    use: (passages: SqlitePassages | undefined) => T,
  ): Promise<Awaited<T>> {
    try {
      return await use(await passagesOf(scope));
    } catch (error) {
      if (error instanceof SearchUnavailable) throw error;
      const file = fileOf(scope);
      if (isDamage(error)) await putAside(file);
      throw unavailable(file, error);
    }
  }

  async function putAside(file: string): Promise<void> {
    open.delete(file);
    await rename(file, `${file}.damaged`).catch(() => undefined);
  }

  return {
    async startBuild(scope, { from, synonyms } = {}) {
      const file = fileOf(scope);
      await mkdir(dirname(file), { recursive: true });
      const base = from === undefined ? undefined : fileOf({ ...scope, contentVersion: from });
      return buildSqlitePassages(file, base, synonyms);
    },
    async passageCount(scope) {
      try {
        return await withPassages(scope, async (passages) => {
          if (passages === undefined) return undefined;
          if (!sound.has(passages.inode) && !passages.isSound()) {
            await putAside(fileOf(scope));
            return undefined;
          }
          sound.add(passages.inode);
          return passages.passageCount;
        });
      } catch (error) {
        if (error instanceof SearchUnavailable && isDamage(error.cause)) return undefined;
        throw error;
      }
    },
    search: (query) =>
      withPassages(query, (passages) => (passages === undefined ? [] : searchPassages(passages.engine, query))),
    findPage: (scope, path, groups) =>
      withPassages(scope, (passages): FoundPage | undefined => {
        const page = passages?.page(path);
        if (!page || (page.groups.length > 0 && !page.groups.some((group) => groups.includes(group)))) return undefined;
        const { title, language, version, markdown } = page;
        return { path, title, language, version, markdown };
      }),
    async startVectors(scope, model) {
      const file = fileOf(scope);
      try {
        return (await passagesOf(scope)) === undefined ? undefined : startSqliteVectors(file, model);
      } catch (error) {
        throw unavailable(file, error);
      }
    },
    facets: (scope) => withPassages(scope, (passages) => passages?.facets),
    async remove(scope) {
      const file = fileOf(scope);
      open.delete(file);
      await rm(file, { force: true });
      await rm(`${file}.damaged`, { force: true });
    },
    check: async () => {
      await mkdir(folder, { recursive: true });
    },
    async close() {
      open.clear();
    },
  };
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
