import { constants } from 'node:fs';
import { chmod, copyFile, open, rename, stat } from 'node:fs/promises';
import { sealFile } from './sqlite-seal.ts';

/** Incremented when the tables or the terms of `analyzeText` change. A file of another shape is rebuilt. */
export const sqliteShape = 7;

/**
 * One file holds one content version. Terms are those of `analyzeText`, separated by spaces, so the tokenizers have nothing to decide (`ascii` keeps
 * all other letters unchanged, and is the fastest). Rows of `words` have the numbers of `passages`, those of `link_words` the numbers of `links`. A
 * passage's number is that of its page × 65,536, plus its position. `counts`: see `packCounts`. `facts` has one row of sums over passages. `synonyms`
 * has a row for each group of the project, a list in JSON.
 */
export const sqliteSchema = `
  PRAGMA user_version = ${sqliteShape};
  CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    title TEXT NOT NULL,
    language TEXT,
    version TEXT,
    tag TEXT,
    groups TEXT NOT NULL,
    boost REAL NOT NULL,
    title_terms TEXT NOT NULL,
    name_terms TEXT NOT NULL,
    keyword_terms TEXT NOT NULL,
    path_terms TEXT NOT NULL,
    text_length INTEGER NOT NULL,
    markdown TEXT NOT NULL,
    peoples_markdown TEXT
  );
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    heading_terms TEXT NOT NULL,
    text_length INTEGER NOT NULL,
    counts BLOB NOT NULL,
    anchor TEXT NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL
  );
  CREATE TABLE links (
    id INTEGER PRIMARY KEY,
    page INTEGER NOT NULL REFERENCES pages (id),
    target TEXT NOT NULL,
    terms TEXT NOT NULL
  );
  CREATE INDEX links_of_page ON links (page);
  CREATE INDEX links_to ON links (target, page);
  CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, passages INTEGER NOT NULL, links INTEGER NOT NULL);
  CREATE TABLE facts (passages INTEGER NOT NULL, title REAL NOT NULL, path REAL NOT NULL, heading REAL NOT NULL, text REAL NOT NULL);
  INSERT INTO facts VALUES (0, 0, 0, 0, 0);
  CREATE TABLE synonyms (expressions TEXT NOT NULL);
  CREATE VIRTUAL TABLE words USING fts5 (title, path, heading, text, content = '', contentless_delete = 1, tokenize = 'ascii');
  CREATE VIRTUAL TABLE link_words USING fts5 (terms, content = '', contentless_delete = 1, tokenize = 'ascii');
`;

const positions = 65_536;
export const mostPassagesOfPage = positions;
export const passageId = (page: number | bigint, position: number): number => Number(page) * positions + position;
export const pageOfPassage = (id: number): number => Math.floor(id / positions);
export const positionOfPassage = (id: number): number => id % positions;

/** Options for a file that is being built. In its defensive mode, SQLite ignores `PRAGMA journal_mode = OFF`. */
export const withoutJournal = { defensive: false };

/** Copies a file that other processes may be reading. The copy is writable even if the file is not. */
export async function copyToChange(file: string, copy: string): Promise<void> {
  await copyFile(file, copy, constants.COPYFILE_FICLONE);
  await chmod(copy, 0o600 | ((await stat(file)).mode & 0o777));
}

/** Moves a complete file to the place of its version. It is whole there even after a power loss. */
export async function putInPlace(building: string, file: string): Promise<void> {
  const handle = await open(building, 'r+');
  try {
    await sealFile(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(building, file);
}
