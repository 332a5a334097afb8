/**
 * One file holds one content version. `words` has the terms of `analyzeText`, separated by spaces, so the tokenizer has nothing left to
 * decide; its rows are numbered like those of `passages`, which has what is shown.
 */
export const sqliteSchema = `
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
