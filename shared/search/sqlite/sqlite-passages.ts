import { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { mostCandidates, mostLinkedPages, mostLinks, rarest } from '#shared/search/ranking/candidate-limits.ts';
import { type Neighbours, onlyByMeaning } from '#shared/search/vectors/meaning.ts';
import { unpackCounts } from '#shared/search/ranking/packed-counts.ts';
import type { Candidate, CandidatePage } from '#shared/search/ranking/rank-passages.ts';
import {
  type FoundPage,
  type PageRange,
  type SearchFacets,
  type SearchFilter,
  type SearchQuery,
  SearchUnavailable,
} from '#shared/search/search-index.ts';
import type { PassageEngine } from '#shared/search/search-passages.ts';
import { similarTo } from '#shared/search/ranking/similar-terms.ts';
import { type Kept, keptIn, type KeptPassage, optional, split } from './sqlite-kept.ts';
import { pageOfPassage, positionOfPassage, sqliteShape } from './sqlite-schema.ts';
import { isSealWhole } from './sqlite-seal.ts';
import { nearestIn, readMatrix, type VectorMatrix, vectorFactsIn } from '#shared/search/vectors/sqlite-vectors.ts';
import { synonymsOf } from '#shared/search/ranking/synonyms.ts';

type SqliteCandidate = Candidate & { id: number };
type SqlitePage = FoundPage & { groups: string[] };

/** The page without its groups, which readers do not get. */
export const shownPage = ({ groups: _, ...page }: SqlitePage): FoundPage => page;

/** Number of sets of groups whose link counts are cached for a file. */
const keptReaders = 8;
/** Number of the vocabulary's first terms that are compared with a word that no page has. The largest real sites have fewer. */
const mostCompared = 100_000;

/** The readable side of one file. The file never changes while it is open. */
export type SqlitePassages = {
  /** State of the file when it was opened. It differs after the file was replaced or written to. */
  state: string;
  passageCount: number;
  facets: SearchFacets;
  engine: PassageEngine<SqliteCandidate>;
  page(path: string): SqlitePage | undefined;
  pagesAfter(range: PageRange, groups: readonly string[]): FoundPage[];
  /** True if the whole file is undamaged. Reads all of it. */
  isSound(): boolean;
  close(): void;
};

/** Cache of vectors in memory, by the open file: numbers of closed files are reused. */
export type KeptMatrices = {
  get(open: DatabaseSync): VectorMatrix | undefined;
  set(open: DatabaseSync, matrix: VectorMatrix): void;
  delete(open: DatabaseSync): void;
};

/**
 * Throws `SearchUnavailable` when the file cannot be opened, and SQLite's error when it is not a database. Undefined when it has another
 * shape.
 */
export function openSqlitePassages(
  file: string,
  state: string,
  matrices: KeptMatrices,
  kept: Kept,
): SqlitePassages | undefined {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 2_000 });
  try {
    db.exec('PRAGMA cache_size = -1024');
    if (db.prepare('PRAGMA user_version').get()?.['user_version'] !== sqliteShape) {
      db.close();
      return undefined;
    }
    return readable(db, state, matrices, kept);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Condition under which a reader may see a page: it has no groups, or one of the reader's. */
const isVisible = (page: string): string =>
  `(${page}.groups = '[]' OR EXISTS (SELECT 1 FROM json_each(${page}.groups) g WHERE g.value IN (SELECT value FROM json_each(:groups))))`;
const isNotExcluded = (page: string): string => `${page}.path NOT IN (SELECT value FROM json_each(:exclude))`;
const passesFilter = `
  (:version IS NULL OR p.version = :version OR (p.version IS NULL AND :versionKnown))
  AND (:language IS NULL OR p.language = :language OR (p.language IS NULL AND :languageKnown))
  AND (:tag IS NULL OR p.tag = :tag)
  AND ${isVisible('p')} AND ${isNotExcluded('p')}`;

function readable(db: DatabaseSync, state: string, matrices: KeptMatrices, kept: Kept): SqlitePassages {
  const facts = db.prepare('SELECT passages, title, path, heading, text FROM facts').get() as Record<string, number>;
  const count = (table: string): number =>
    Number(db.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count']);
  const passageCount = Number(facts['passages']);
  const averageOf = (field: string): number => Number(facts[field]) / Math.max(1, passageCount);
  const termsAre = db.prepare(
    'SELECT id, term, passages FROM terms WHERE passages + links > 0 AND term IN (SELECT value FROM json_each(?))',
  );
  const alike = db.prepare(
    `SELECT term, passages FROM terms WHERE id <= ${mostCompared} AND passages + links > 0 AND length(term) BETWEEN :shortest AND :longest
       AND (substr(term, 1, 1) = substr(:term, 1, 1) OR substr(term, 2, 1) = substr(:term, 2, 1))`,
  );
  const pageByPath = db.prepare(
    'SELECT path, title, language, version, groups, markdown, coalesce(peoples_markdown, markdown) AS peoples FROM pages WHERE path = ?',
  );
  const nextPages = db.prepare(
    `SELECT p.path, p.title, p.language, p.version, p.groups, p.markdown, coalesce(p.peoples_markdown, p.markdown) AS peoples FROM pages p
     WHERE p.path > :after AND substr(p.path, 1, length(:under)) = :under AND ${isVisible('p')} ORDER BY p.path LIMIT :limit`,
  );
  const find = db.prepare(
    `SELECT words.rowid AS id FROM words JOIN pages p ON p.id = words.rowid >> 16
     WHERE words MATCH :match AND ${passesFilter} ORDER BY bm25(words, 6.0, 3.0, 3.0, 1.0) LIMIT ${mostCandidates}`,
  );
  // For content without groups and filters: checking the page of each match takes a quarter of the time.
  const findAnywhere = db.prepare(
    `SELECT rowid AS id FROM words WHERE words MATCH :match ORDER BY bm25(words, 6.0, 3.0, 3.0, 1.0) LIMIT ${mostCandidates}`,
  );
  const isForEveryone = db.prepare("SELECT 1 FROM pages WHERE groups <> '[]' LIMIT 1").get() === undefined;
  const findLinks = db.prepare(
    `SELECT l.target, l.terms FROM link_words JOIN links l ON l.id = link_words.rowid JOIN pages f ON f.id = l.page
     WHERE link_words MATCH :match AND f.path <> l.target AND ${isVisible('f')} AND ${isNotExcluded('f')}
     ORDER BY link_words.rank LIMIT ${mostLinks}`,
  );
  const findFirst = db.prepare(
    `SELECT p.id << 16 AS id FROM pages p WHERE p.path IN (SELECT value FROM json_each(:paths)) AND ${passesFilter}`,
  );
  const findThese = db.prepare(
    `SELECT i.value AS id FROM json_each(:ids) i JOIN pages p ON p.id = i.value >> 16 WHERE ${passesFilter}`,
  );
  const visible = db.prepare(`SELECT p.id FROM pages p WHERE ${passesFilter}`);
  const vectors = vectorFactsIn(db);
  const read = keptIn(db, kept);
  const countLinks = db.prepare(
    `SELECT l.target, count(DISTINCT l.page) AS pages FROM links l JOIN pages f ON f.id = l.page
     WHERE f.path <> l.target AND ${isVisible('f')} AND ${isNotExcluded('f')}
       AND (:paths IS NULL OR l.target IN (SELECT value FROM json_each(:paths))) GROUP BY l.target`,
  );
  const shown = db.prepare(
    `SELECT p.path, p.title, p.language, p.version, p.tag, s.anchor, s.heading, s.text
     FROM passages s JOIN pages p ON p.id = s.id >> 16 WHERE s.id = ?`,
  );
  const valuesWhere = (condition: string) => {
    const values = (column: 'version' | 'language' | 'tag'): string[] =>
      db
        .prepare(
          `SELECT DISTINCT ${column} AS value FROM pages WHERE ${column} IS NOT NULL AND ${condition} ORDER BY 1`,
        )
        .all()
        .map((row) => String(row['value']));
    return { versions: values('version'), languages: values('language'), tags: values('tag') };
  };
  const facets = { ...valuesWhere('true'), open: valuesWhere(`groups = '[]'`) };

  const filterValues = (filter: SearchFilter) => ({
    version: filter.version ?? null,
    versionKnown: facets.versions.includes(filter.version ?? '') ? 1 : 0,
    language: facets.languages.length === 0 ? null : (filter.language ?? null),
    languageKnown: facets.languages.includes(filter.language ?? '') ? 1 : 0,
    tag: filter.tag ?? null,
  });

  const linkCounts = new LRUCache<string, ReadonlyMap<string, number>>({ max: keptReaders });
  /**
   * For each of these pages, or for all, the number of pages with links to it that the reader may see. Pages without such links are left
   * out.
   */
  function linkedFrom(
    reader: { groups: string; exclude: string },
    paths: readonly string[],
  ): ReadonlyMap<string, number> {
    const count = (of: readonly string[] | undefined): ReadonlyMap<string, number> => {
      const rows = countLinks.all({ ...reader, paths: of === undefined ? null : JSON.stringify(of) });
      return new Map(rows.map((row) => [String(row['target']), Number(row['pages'])]));
    };
    // Exclusions differ for each question, so these counts are not cached.
    if (reader.exclude !== '[]') return count(paths);
    const counts = linkCounts.get(reader.groups) ?? count(undefined);
    linkCounts.set(reader.groups, counts);
    return counts;
  }

  /** The passages of nearest meaning, of pages that the filter admits. */
  function neighboursOf(
    meaning: SearchQuery['meaning'],
    values: Record<string, string | number | null>,
  ): Neighbours<number> {
    if (meaning === undefined || vectors?.model !== meaning.model || vectors.dimensions !== meaning.vector.length)
      return new Map();
    let matrix = matrices.get(db);
    if (matrix === undefined) {
      matrix = readMatrix(db, vectors);
      matrices.set(db, matrix);
    }
    const pages = new Set(visible.all(values).map((row) => Number(row['id'])));
    return nearestIn(matrix, meaning.vector, (id) => pages.has(pageOfPassage(id)));
  }

  const pageOf = (row: Record<string, unknown>): SqlitePage => ({
    path: String(row['path']),
    title: String(row['title']),
    language: optional(row['language']),
    version: optional(row['version']),
    markdown: String(row['markdown']),
    peoplesMarkdown: String(row['peoples']),
    groups: JSON.parse(String(row['groups'])) as string[],
  });

  const page: SqlitePassages['page'] = (path) => {
    const row = pageByPath.get(path);
    return row && pageOf(row);
  };

  const groups = db.prepare('SELECT expressions FROM synonyms ORDER BY rowid').all();
  const synonyms = synonymsOf(groups.map(({ expressions }) => JSON.parse(String(expressions)) as string[]));

  const engine: PassageEngine<SqliteCandidate> = {
    synonyms,
    vocabulary: {
      passageCount,
      async passagesWith(terms) {
        const rows = termsAre.all(JSON.stringify(terms));
        return new Map(rows.map((row) => [String(row['term']), Number(row['passages'])]));
      },
      async similarTerms(term) {
        const most = term.length > 7 ? 2 : 1;
        const rows = alike.all({ term, shortest: term.length - most, longest: term.length + most });
        return similarTo(
          term,
          rows.map((row) => [String(row['term']), Number(row['passages'])]),
        );
      },
    },
    collection: {
      averageLength: {
        title: averageOf('title'),
        path: averageOf('path'),
        heading: averageOf('heading'),
        text: averageOf('text'),
      },
      averagePageLength: Number(facts['text']) / Math.max(1, count('pages')),
    },
    async candidates(searched, { filter = {}, exclude = [], meaning }) {
      const terms = termsAre.all(JSON.stringify([...searched.keys()])).map((row) => ({
        id: Number(row['id']),
        term: String(row['term']),
        passages: Number(row['passages']),
      }));
      if (terms.length === 0 && meaning === undefined) return [];
      const reader = { groups: JSON.stringify(filter.groups ?? []), exclude: JSON.stringify(exclude) };
      const values = { ...filterValues(filter), ...reader };
      const idsOf = (rows: Iterable<Record<string, unknown>>): number[] => Array.from(rows, (row) => Number(row['id']));
      const match = (of: readonly { term: string }[]): string => matching(of.map(({ term }) => term));
      const filtersNothing =
        isForEveryone &&
        exclude.length === 0 &&
        [values.version, values.language, values.tag].every((of) => of === null);
      const rare = rarest(terms);
      const ids = new Set<number>();
      if (rare.length > 0)
        for (const id of idsOf(
          filtersNothing ? findAnywhere.all({ match: match(rare) }) : find.all({ match: match(rare), ...values }),
        ))
          ids.add(id);
      const linkRows = terms.length === 0 ? [] : findLinks.all({ match: match(terms), ...reader });
      const links = Map.groupBy(linkRows, (row) => String(row['target']));
      const neighbours = neighboursOf(meaning, values);
      const only = onlyByMeaning(neighbours, new Set(ids));
      const near = only.length === 0 ? [] : idsOf(findThese.all({ ids: JSON.stringify(only), ...values }));
      const found = new Set(Array.from(ids, pageOfPassage));
      const linked = [...links.keys()].slice(0, mostLinkedPages);
      if (linked.length > 0)
        for (const id of idsOf(findFirst.all({ paths: JSON.stringify(linked), ...values })))
          if (!found.has(pageOfPassage(id))) ids.add(id);
      for (const id of near) ids.add(id);

      const passages = read.passages(ids);
      const pages = new Map<number, CandidatePage>();
      const keptPages = read.pages(new Set(passages.map(({ id }) => pageOfPassage(id))));
      const linkedPages = linkedFrom(
        reader,
        keptPages.map(({ path }) => path),
      );
      for (const { id, ...ofPage } of keptPages) {
        const toPage = (links.get(ofPage.path) ?? []).map((link) => split(link['terms']));
        pages.set(id, { ...ofPage, links: toPage, linkedFrom: linkedPages.get(ofPage.path) ?? 0 });
      }
      const candidateOf = ({ id, heading, textLength, counts }: KeptPassage): SqliteCandidate[] => {
        const page = pages.get(pageOfPassage(id));
        if (page === undefined) return [];
        const text = unpackCounts(counts, terms);
        const position = positionOfPassage(id);
        return [{ id, page, position, heading, text, textLength, meaning: neighbours.get(id) }];
      };
      return passages.flatMap(candidateOf);
    },
    near: async (path) => page(path),
    texts: async (candidates) =>
      candidates.map(({ id }) => {
        const { title, heading, text } = shown.get(id) as Record<string, unknown>;
        return [title, heading, text].map(String).join('\n');
      }),
    show: async (candidates) =>
      candidates.map(({ id }) => {
        const row = shown.get(id) as Record<string, unknown>;
        return {
          path: String(row['path']),
          anchor: String(row['anchor']),
          title: String(row['title']),
          heading: String(row['heading']),
          text: String(row['text']),
          language: optional(row['language']),
          version: optional(row['version']),
          tag: optional(row['tag']),
        };
      }),
  };

  return {
    state,
    passageCount,
    facets,
    engine,
    page,
    pagesAfter: ({ after, under, limit }, ofReader) =>
      nextPages.all({ after, under, limit, groups: JSON.stringify(ofReader) }).map((row) => shownPage(pageOf(row))),
    isSound: () => isSound(db),
    close() {
      matrices.delete(db);
      db.close();
    },
  };
}

/** Terms have letters and digits only. The quotes prevent `or`, `not` and `near` from being operators. */
const matching = (terms: readonly string[]): string => terms.map((term) => `"${term}"`).join(' OR ');

/** True if the file is undamaged. Reads the whole file. Throws when that is not possible now. */
export function isSound(db: DatabaseSync): boolean {
  try {
    const file = db.location();
    const isWhole = file === null ? undefined : isSealWhole(file);
    return isWhole ?? db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok';
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

/** Checks a whole file for damage. Undefined when that is not possible now. */
export function isSoundFile(file: string): boolean | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true });
    return isSound(db);
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}

/** True if SQLite reports that the file itself is damaged. */
export function isDamage(error: unknown): boolean {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  const primary = typeof code === 'number' ? code & 255 : 0;
  return (
    primary === corrupt ||
    primary === notADatabase ||
    (primary === plainError && /no such (table|column)|malformed|fts5 file format/.test(String(error)))
  );
}
/** True if the disk is the cause, for example when it is full or read-only. */
export function isStorageFailure(error: unknown): boolean {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  if (typeof code === 'number') return storageFailures.has(code & 255);
  return error instanceof Error && 'syscall' in error;
}
/** SQLite's codes for a file that is busy, locked, read-only, cannot be read or written, is full, or cannot be opened. */
const storageFailures = new Set([5, 6, 8, 10, 13, 14]);
const plainError = 1;
const corrupt = 11;
const notADatabase = 26;

export const unavailable = (file: string, error: unknown): SearchUnavailable =>
  new SearchUnavailable(
    `The search index ${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    { cause: error },
  );
