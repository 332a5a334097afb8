import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { countsIn } from '#shared/search/ranking/packed-counts.ts';
import { splitNames } from '#shared/search/ranking/page-terms.ts';
import type { CandidatePage } from '#shared/search/ranking/rank-passages.ts';

/** The fields of a passage for the ranking. `counts`: see `packCounts`. */
export type KeptPassage = { id: number; heading: readonly string[]; textLength: number; counts: Uint32Array };
/** The fields of a page for the ranking, independent of the reader. */
export type KeptPage = Omit<CandidatePage, 'links' | 'linkedFrom'> & { id: number };

/**
 * Size of the cache for all files, which holds about 6,000 passages. Long-lived entries that are often replaced cost several times their size in
 * memory.
 */
const keptBytes = 5_000_000;

/**
 * The key has the number of the file, `s` for a passage or `p` for a page, and its id. It is a text, because a combined number could exceed
 * 2^53 and lose precision.
 */
export type Kept = LRUCache<string, KeptPassage | KeptPage>;

/** Cache of entries of files, by number of the file and of the passage or page. A file never changes while it is open. */
export const keptOfFiles = (): Kept => new LRUCache({ maxSize: keptBytes, sizeCalculation: bytesOf });

let files = 0;

/**
 * Reads passages and pages of an open file by their ids; cached ones are not read again. They come in no particular order; missing ones are left out.
 */
export function keptIn(db: DatabaseSync, kept: Kept) {
  files += 1;
  const [ofPassages, ofPages] = [`${files}s`, `${files}p`];
  const passagesAre = db.prepare(
    'SELECT id, heading_terms, text_length, counts FROM passages WHERE id IN (SELECT value FROM json_each(?))',
  );
  const pagesAre = db.prepare(
    `SELECT id, path, language, version, boost, title_terms, name_terms, keyword_terms, path_terms, text_length
     FROM pages WHERE id IN (SELECT value FROM json_each(?))`,
  );

  function read<T extends KeptPassage | KeptPage>(
    ids: Iterable<number>,
    of: string,
    rows: typeof pagesAre,
    from: (row: Record<string, unknown>) => T,
  ): T[] {
    const found: T[] = [];
    const unknown: number[] = [];
    for (const id of ids) {
      const known = kept.get(of + id) as T | undefined;
      if (known === undefined) unknown.push(id);
      else found.push(known);
    }
    if (unknown.length === 0) return found;
    for (const row of rows.iterate(JSON.stringify(unknown))) {
      const one = from(row);
      kept.set(of + one.id, one);
      found.push(one);
    }
    return found;
  }

  return {
    passages: (ids: Iterable<number>): KeptPassage[] => read(ids, ofPassages, passagesAre, passageFrom),
    pages: (ids: Iterable<number>): KeptPage[] => read(ids, ofPages, pagesAre, pageFrom),
  };
}

const passageFrom = (row: Record<string, unknown>): KeptPassage => ({
  id: Number(row['id']),
  heading: split(row['heading_terms']),
  textLength: Number(row['text_length']),
  counts: countsIn(row['counts'] as Uint8Array),
});

const pageFrom = (row: Record<string, unknown>): KeptPage => ({
  id: Number(row['id']),
  path: String(row['path']),
  language: optional(row['language']),
  version: optional(row['version']),
  boost: Number(row['boost']),
  title: split(row['title_terms']),
  names: splitNames(String(row['name_terms'])),
  keywords: split(row['keyword_terms']),
  pathTerms: split(row['path_terms']),
  textLength: Number(row['text_length']),
});

const bytesOfWord = 24;
function bytesOf(one: KeptPassage | KeptPage): number {
  if ('counts' in one) return 250 + one.counts.byteLength + bytesOfWord * one.heading.length;
  const words = [one.title, one.keywords, one.pathTerms, ...one.names].reduce((sum, { length }) => sum + length, 0);
  return 400 + one.path.length + bytesOfWord * words;
}

export const optional = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
export const split = (value: unknown): string[] => (value === '' ? [] : String(value).split(' '));
