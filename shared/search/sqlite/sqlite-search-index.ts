import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { errorCode } from '#shared/runtime/failures.ts';
import { hourMs } from '#shared/runtime/time-and-ids.ts';
import { type FoundPage, type SearchIndex, type SearchScope, SearchUnavailable } from '#shared/search/search-index.ts';
import { searchPassages } from '#shared/search/search-passages.ts';
import { buildSqlitePassages } from './sqlite-build.ts';
import { keptOfFiles } from './sqlite-kept.ts';
import { startSqliteVectors, type VectorMatrix } from '#shared/search/vectors/sqlite-vectors.ts';
import {
  isDamage,
  isSoundFile,
  isStorageFailure,
  openSqlitePassages,
  shownPage,
  type SqlitePassages,
  unavailable,
} from './sqlite-passages.ts';

/** Limit of open files. Each takes 2 to 3 MB for cached pages and statements. */
const openFiles = 40;
const keptSound = 10_000;
/** Time after which a file is checked again: a disk may lose data that was not written since. */
const soundForMs = 6 * hourMs;
const abandonedAfterMs = hourMs;
/** Memory for vectors of all files together: some 100,000 of 1,024 numbers. */
const keptVectorBytes = 128_000_000;

/**
 * The embedded search index: one SQLite file with FTS5 tables per content version, `<folder>/<organization>/<domain>/<contentVersion>.db`.
 * A file is built under another name, from a copy of the previous version, renamed when it is complete, and never changed after that. So
 * readers in all processes need no locks, see only complete versions, and can continue to read a file that is replaced. A damaged file is
 * moved away and counts as missing.
 */
export function sqliteSearchIndex(folder: string): SearchIndex {
  const open = new LRUCache<string, SqlitePassages>({ max: openFiles, dispose: (passages) => passages.close() });
  const matrices = new LRUCache<DatabaseSync, VectorMatrix>({
    maxSize: keptVectorBytes,
    sizeCalculation: ({ numbers, ids }) => 1 + numbers.byteLength + ids.byteLength,
  });
  const kept = keptOfFiles();
  /** Files whose whole content was checked since they were last written, and not long ago. */
  const sound = new LRUCache<string, true>({ max: keptSound, ttl: soundForMs });
  const fileOf = ({ organization, domain, contentVersion }: SearchScope): string =>
    join(folder, token(organization), token(domain), `${token(contentVersion)}.db`);

  /** Opens each file once, and again after it was replaced or written to. */
  async function passagesOf(scope: SearchScope): Promise<SqlitePassages | undefined> {
    const file = fileOf(scope);
    const state = await fileState(file);
    const known = open.get(file);
    if (known !== undefined && known.state === state) return known;
    open.delete(file);
    if (state === undefined) return undefined;
    if (state === 'no file') {
      await putAside(file);
      return undefined;
    }
    const passages = openSqlitePassages(file, state, matrices, kept);
    if (passages !== undefined) open.set(file, passages);
    return passages;
  }

  /** Calls `use` with the version's passages. A file that turns out to be damaged is moved away, so that it is rebuilt. */
  async function withPassages<T>(
    scope: SearchScope,
    use: (passages: SqlitePassages | undefined) => T,
  ): Promise<Awaited<T>> {
    try {
      return await use(await passagesOf(scope));
    } catch (error) {
      if (error instanceof SearchUnavailable) throw error;
      const file = fileOf(scope);
      // Damage may also appear as an invalid value.
      if (isDamage(error) || isSoundFile(file) === false) await putAside(file);
      throw unavailable(file, error);
    }
  }

  async function putAside(file: string): Promise<void> {
    open.delete(file);
    try {
      await rm(`${file}.damaged`, { recursive: true, force: true });
      await rename(file, `${file}.damaged`);
    } catch {
      // Another process has moved the file; if not, the move is retried when the file is read next.
    }
  }

  return {
    async startBuild(scope, { from, synonyms } = {}) {
      const file = fileOf(scope);
      const base = from === undefined ? undefined : fileOf({ ...scope, contentVersion: from });
      return storing(file, async () => {
        await mkdir(dirname(file), { recursive: true });
        await removeAbandoned(dirname(file));
        const build = await buildSqlitePassages(file, base, synonyms);
        return {
          known: build.known,
          add: (pages) => storing(file, () => build.add(pages)),
          keep: (paths) => storing(file, () => build.keep(paths)),
          commit: () => storing(file, () => build.commit()),
          abandon: () => build.abandon(),
        };
      });
    },
    async passageCount(scope) {
      try {
        return await withPassages(scope, async (passages) => {
          if (passages === undefined) return undefined;
          const file = fileOf(scope);
          if (!sound.has(`${file} ${passages.state}`) && !passages.isSound()) {
            await putAside(file);
            return undefined;
          }
          sound.set(`${file} ${passages.state}`, true);
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
        return shownPage(page);
      }),
    pagesAfter: (scope, range, groups) => withPassages(scope, (passages) => passages?.pagesAfter(range, groups) ?? []),
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
      await storing(file, async () => {
        await rm(file, { recursive: true, force: true });
        await rm(`${file}.damaged`, { recursive: true, force: true });
      });
    },
    check: async () => {
      await mkdir(folder, { recursive: true });
    },
    async close() {
      open.clear();
    },
  };
}

/** Runs a write. A full or unavailable disk says nothing about the stored data, so its error is one that callers retry. */
async function storing<T>(file: string, store: () => Promise<T>): Promise<T> {
  try {
    return await store();
  } catch (error) {
    throw isStorageFailure(error) ? unavailable(file, error) : error;
  }
}

/** Ids become file names, so other characters must not reach the file system. */
function token(id: string): string {
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(id)) throw new TypeError(`"${id}" cannot be part of the name of a search index.`);
  return id;
}

/** Removes unfinished builds of processes that died. If such a process still runs, its build fails at the end and is tried again. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.includes('.building')) continue;
    const building = join(folder, name);
    const writtenMs = await stat(building).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - writtenMs > abandonedAfterMs) await rm(building, { force: true });
  }
}

/** A text that differs after every change of the file; undefined when there is none. */
async function fileState(file: string): Promise<string | undefined> {
  try {
    // The asynchronous call lets other work run: the rest of a search is synchronous.
    const found = await stat(file, { bigint: true });
    return found.isFile() ? [found.ino, found.size, found.mtimeNs].join(' ') : 'no file';
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
