/** Counts up when the tables or the terms of `analyzeText` change: a file of another shape is built again. */
export const sqliteShape = 4;

/**
 * One file holds one content version. Terms are those of `analyzeText`, separated by spaces, so the tokenizers decide nothing. Rows of `words` have
 * the numbers of `passages`, those of `link_words` the numbers of `links`. A passage's number is that of its page × 65,536, and its position. `counts`: see `packCounts`. `facts` has one row of sums over passages.
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
    markdown TEXT NOT NULL
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
  CREATE VIRTUAL TABLE words USING fts5 (title, path, heading, text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0');
  CREATE VIRTUAL TABLE link_words USING fts5 (terms, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0');
`;

const positions = 65_536;
export const mostPassagesOfPage = positions;
export const passageId = (page: number | bigint, position: number): number => Number(page) * positions + position;
export const pageOfPassage = (id: number): number => Math.floor(id / positions);
export const positionOfPassage = (id: number): number => id % positions;

const mostCounted = 255;

/** How often a text has each term, by ids: 24 bits of the id, 8 of the count, ascending. */
export function packCounts(ids: readonly number[]): Uint8Array {
  const counts = new Map<number, number>();
  for (const id of ids) counts.set(id, Math.min(mostCounted, (counts.get(id) ?? 0) + 1));
  const packed = Uint32Array.from(counts, ([id, count]) => id * 256 + count).sort();
  return new Uint8Array(packed.buffer);
}

/** How often each of these terms is in a text. */
export function unpackCounts(bytes: Uint8Array, terms: readonly { id: number; term: string }[]): Map<string, number> {
  const packed = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const counts = new Map<string, number>();
  for (const { id, term } of terms) {
    let low = 0;
    let high = packed.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((packed[middle] ?? 0) >>> 8 < id) low = middle + 1;
      else high = middle;
    }
    const found = packed[low];
    if (found !== undefined && found >>> 8 === id) counts.set(term, found & 255);
  }
  return counts;
}
