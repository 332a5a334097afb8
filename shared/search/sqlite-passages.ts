import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '#shared/runtime/failures.ts';
import { analyzeText } from './analyze-text.ts';
import { type CollectionFacts, type Field, fields, type RankedCandidate } from './rank-passages.ts';
import {
  type FoundPage,
  type FoundPassage,
  type IndexBuild,
  type SearchFacets,
  type SearchFilter,
  SearchUnavailable,
} from './search-index.ts';

/**
 * One file holds one content version. `words` has the terms of `analyzeText`, separated by spaces, so the tokenizer decides nothing. Its
 * rows have the numbers of `passages`, which has the text that is shown.
 */
const sqliteSchema = `
  CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    language TEXT,
    version TEXT,
    tag TEXT,
    groups TEXT NOT NULL,
    boost REAL NOT NULL
  );
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    page INTEGER NOT NULL REFERENCES pages (id),
    anchor TEXT NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL
  );
  CREATE VIRTUAL TABLE words USING fts5 (title, path, heading, text, tokenize = 'unicode61 remove_diacritics 0');
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
  CREATE TABLE facts (
    passage_count INTEGER NOT NULL,
    title_length REAL NOT NULL,
    path_length REAL NOT NULL,
    heading_length REAL NOT NULL,
    text_length REAL NOT NULL
  );
`;

/** Builds the file of one content version beside its place and moves it there on `commit`. */
export function buildSqlitePassages(file: string): IndexBuild {
  const building = `${file}.${randomBytes(6).toString('hex')}.building`;
  const db = new DatabaseSync(building);
  // The file has no worth before it is renamed, and is made again after a crash: no journal, one flush at the end.
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN');
  db.exec(sqliteSchema);
  const insertPage = db.prepare(
    'INSERT INTO pages (path, title, language, version, tag, groups, boost) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const insertPassage = db.prepare('INSERT INTO passages (page, anchor, heading, text) VALUES (?, ?, ?, ?)');
  const insertWords = db.prepare('INSERT INTO words (rowid, title, path, heading, text) VALUES (?, ?, ?, ?, ?)');
  const lengths = { title: 0, path: 0, heading: 0, text: 0 };
  let passageCount = 0;

  return {
    async add(pages) {
      for (const page of pages) {
        const terms = {
          title: analyzeText([page.title, ...page.keywords].join(' \n ')),
          path: analyzeText(page.path.replaceAll(/[/_-]/g, ' ')),
        };
        const { lastInsertRowid: pageId } = insertPage.run(
          page.path,
          page.title,
          page.language ?? null,
          page.version ?? null,
          page.tag ?? null,
          JSON.stringify(page.groups),
          page.boost,
        );
        for (const { anchor, heading, text } of page.passages) {
          const { lastInsertRowid: id } = insertPassage.run(pageId, anchor, heading, text);
          const all = { ...terms, heading: analyzeText(heading), text: analyzeText(text) };
          insertWords.run(id, ...fields.map((field) => all[field].join(' ')));
          for (const field of fields) lengths[field] += all[field].length;
          passageCount += 1;
        }
      }
    },
    async commit() {
      const averages = fields.map((field) => (passageCount === 0 ? 0 : lengths[field] / passageCount));
      db.prepare('INSERT INTO facts VALUES (?, ?, ?, ?, ?)').run(passageCount, ...averages);
      db.exec("INSERT INTO words (words) VALUES ('optimize'); COMMIT");
      db.close();
      await flushFile(building);
      await rename(building, file);
      return passageCount;
    },
    async abandon() {
      if (db.isOpen) db.close();
      await rm(building, { force: true });
    },
  };
}

async function flushFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Candidates for the ranking. On 1,401 known questions 1,000 were no better than 300, and took up to four times as long. */
const mostCandidates = 300;

type SqliteCandidate = RankedCandidate & { id: number };
type SqlitePage = FoundPage & { groups: string[] };

/** The readable side of one file; the file never changes while it is open. */
export type SqlitePassages = {
  inode: bigint;
  collection: CollectionFacts;
  facets: SearchFacets;
  candidates(terms: readonly string[], filter: SearchFilter, exclude: readonly string[]): SqliteCandidate[];
  passage(candidate: SqliteCandidate): Omit<FoundPassage, 'score' | 'coverage'>;
  page(path: string): SqlitePage | undefined;
  close(): void;
};

export function openSqlitePassages(file: string, inode: bigint): SqlitePassages {
  const db = openFile(file);
  const facts = db.prepare('SELECT * FROM facts').get() as Row;
  const countOfTerm = db.prepare('SELECT doc FROM vocabulary WHERE term = ?');
  const pageByPath = db.prepare('SELECT path, title, language, version, groups FROM pages WHERE path = ?');
  const passageById = db.prepare(
    `SELECT p.path, p.title, p.language, p.version, p.tag, s.anchor, s.heading, s.text
     FROM passages s JOIN pages p ON p.id = s.page WHERE s.id = ?`,
  );
  const find = db.prepare(
    `SELECT words.rowid AS id, words.title AS title_terms, words.path AS path_terms, words.heading AS heading_terms,
       words.text AS text_terms, p.path, p.language, p.version, p.boost
     FROM words JOIN passages s ON s.id = words.rowid JOIN pages p ON p.id = s.page
     WHERE words MATCH :match
       AND (:version IS NULL OR p.version = :version OR (p.version IS NULL AND :versionKnown))
       AND (:language IS NULL OR p.language = :language OR (p.language IS NULL AND :languageKnown))
       AND (:tag IS NULL OR p.tag = :tag)
       AND (p.groups = '[]' OR EXISTS (SELECT 1 FROM json_each(p.groups) g WHERE g.value IN (SELECT value FROM json_each(:groups))))
       AND p.path NOT IN (SELECT value FROM json_each(:exclude))
     ORDER BY bm25(words, 6.0, 3.0, 3.0, 1.0) LIMIT ${mostCandidates}`,
  );
  const values = (column: 'version' | 'language' | 'tag'): string[] =>
    db
      .prepare(`SELECT DISTINCT ${column} AS value FROM pages WHERE ${column} IS NOT NULL ORDER BY 1`)
      .all()
      .map((row) => String(row.value));
  const facets = { versions: values('version'), languages: values('language'), tags: values('tag') };

  return {
    inode,
    facets,
    collection: {
      passageCount: Number(facts.passage_count),
      passagesWith: (term) => Number(countOfTerm.get(term)?.doc ?? 0),
      averageLength: byField((field) => Number(facts[`${field}_length`])),
    },
    candidates(terms, filter, exclude) {
      const rows = find.all({
        // Terms have letters and digits only; the quotes keep `or`, `not` and `near` from being operators.
        match: terms.map((term) => `"${term}"`).join(' OR '),
        version: filter.version ?? null,
        versionKnown: facets.versions.includes(filter.version ?? '') ? 1 : 0,
        language: filter.language ?? null,
        languageKnown: facets.languages.includes(filter.language ?? '') ? 1 : 0,
        tag: filter.tag ?? null,
        groups: JSON.stringify(filter.groups ?? []),
        exclude: JSON.stringify(exclude),
      });
      return rows.map((row) => ({
        id: Number(row.id),
        order: Number(row.id),
        path: String(row.path),
        language: optional(row.language),
        version: optional(row.version),
        boost: Number(row.boost),
        terms: byField((field) => split(row[`${field}_terms`])),
      }));
    },
    passage({ id }) {
      const row = passageById.get(id) as Row;
      return {
        path: String(row.path),
        anchor: String(row.anchor),
        title: String(row.title),
        heading: String(row.heading),
        text: String(row.text),
        language: optional(row.language),
        version: optional(row.version),
        tag: optional(row.tag),
      };
    },
    page(path) {
      const row = pageByPath.get(path);
      if (!row) return undefined;
      return {
        path,
        title: String(row.title),
        language: optional(row.language),
        version: optional(row.version),
        groups: JSON.parse(String(row.groups)) as string[],
      };
    },
    close: () => db.close(),
  };
}

type Row = Record<string, unknown>;

function openFile(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { readOnly: true, timeout: 2_000 });
  } catch (error) {
    throw new SearchUnavailable(`The search index ${file} cannot be opened: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

const optional = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const split = (value: unknown): string[] => (value === '' ? [] : String(value).split(' '));
const byField = <T>(valueOf: (field: Field) => T): Record<Field, T> => ({
  title: valueOf('title'),
  path: valueOf('path'),
  heading: valueOf('heading'),
  text: valueOf('text'),
});
