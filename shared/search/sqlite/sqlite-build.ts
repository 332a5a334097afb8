import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { analyzeText, analyzeWithNumbers } from '#shared/search/ranking/analyze-text.ts';
import { countedIds, packCounts } from '#shared/search/ranking/packed-counts.ts';
import { joinNames, pageTerms } from '#shared/search/ranking/page-terms.ts';
import { fields } from '#shared/search/ranking/rank-passages.ts';
import type { IndexBuild, SearchPage } from '#shared/search/search-index.ts';
import { split } from './sqlite-kept.ts';
import { isSound } from './sqlite-passages.ts';
import {
  copyToChange,
  mostPassagesOfPage,
  passageId,
  putInPlace,
  sqliteSchema,
  sqliteShape,
  withoutJournal,
} from './sqlite-schema.ts';
import { SqliteTerms } from './sqlite-terms.ts';
import { inheritVectors, vectorFactsIn } from '#shared/search/vectors/sqlite-vectors.ts';

/** Write buffer for terms of a new file. A larger one is no faster, and the allocator keeps most of it after the build. */
const wordsInMemoryBytes = 8 * 1024 * 1024;

/**
 * Builds the file of one content version beside its final place and moves it there on `commit`. `base`: the complete file of another
 * version of the domain, whose kept pages are not written again.
 */
export async function buildSqlitePassages(
  file: string,
  base: string | undefined,
  synonyms: readonly (readonly string[])[] = [],
): Promise<IndexBuild> {
  const building = `${file}.${randomBytes(6).toString('hex')}.building`;
  const copy = base === undefined ? undefined : await copyOf(base, building);
  const db = copy ?? empty(building);
  // A journal would keep the earlier content of all changed pages in memory. A build that fails is removed, never rolled back.
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384; BEGIN');
  if (copy === undefined) inheritVectors(db, base === undefined ? [file] : [file, base]);
  const writer = new PassageWriter(db);
  writer.setSynonyms(synonyms);
  const known = writer.known();
  const isFresh = known.size === 0;
  if (isFresh) {
    for (const table of ['words', 'link_words'])
      db.exec(`INSERT INTO ${table} (${table}, rank) VALUES ('hashsize', ${wordsInMemoryBytes})`);
  }
  const left = new Set(known.keys());

  return {
    known,
    async add(pages) {
      for (const page of pages) {
        if (known.has(page.path)) {
          writer.remove(page.path);
          left.delete(page.path);
        }
        writer.add(page);
      }
    },
    async keep(paths) {
      for (const path of paths) left.delete(path);
    },
    async commit() {
      for (const path of left) writer.remove(path);
      const passageCount = writer.finish();
      if (isFresh)
        db.exec(
          "INSERT INTO words (words) VALUES ('optimize'); INSERT INTO link_words (link_words) VALUES ('optimize')",
        );
      db.exec('COMMIT');
      db.close();
      await putInPlace(building, file);
      return passageCount;
    },
    async abandon() {
      if (db.isOpen) db.close();
      await rm(building, { force: true });
    },
  };
}

/** Foreign keys are not checked: with each removed page, the check would make FTS5 flush its write buffer to a further segment that must be merged later. */
const open = (building: string): DatabaseSync =>
  new DatabaseSync(building, { enableForeignKeyConstraints: false, ...withoutJournal });

/** Copies the file `base` to `building`, and opens the copy. Undefined if there is no such file, or if it cannot be used. */
async function copyOf(base: string, building: string): Promise<DatabaseSync | undefined> {
  let db: DatabaseSync | undefined;
  try {
    await copyToChange(base, building);
    db = open(building);
    if (pragma(db, 'user_version') === sqliteShape && isSound(db)) {
      // The space of removed rows is reused, but after a version with far more text, the file would keep its size without VACUUM.
      if (pragma(db, 'freelist_count') > pragma(db, 'page_count') / 2) db.exec('PRAGMA synchronous = OFF; VACUUM');
      return db;
    }
  } catch {
    // The base only saves work, so without a usable one everything is written.
  }
  db?.close();
  await rm(building, { force: true });
  return undefined;
}

const pragma = (db: DatabaseSync, name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);

function empty(building: string): DatabaseSync {
  const db = open(building);
  try {
    db.exec(sqliteSchema);
    return db;
  } catch (error) {
    // A build on a full disk is retried again and again, so it must leave no file behind.
    db.close();
    rmSync(building, { force: true });
    throw error;
  }
}

class PassageWriter {
  readonly #db: DatabaseSync;
  readonly #statements;
  readonly #terms: SqliteTerms;
  /** Numbers only increase, so that new rows come after removed ones. */
  #lastPage: number;
  #lastLink: number;
  /**
   * Rows whose words are removed at the end, in ascending order: FTS5 flushes its write buffer when a row below the last written one is
   * changed.
   */
  readonly #removed = { words: [] as number[], linkWords: [] as number[] };
  readonly #sums: Record<string, number>;
  readonly #hasVectors: boolean;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#hasVectors = vectorFactsIn(db) !== undefined;
    this.#sums = { ...(db.prepare('SELECT * FROM facts').get() as Record<string, number>) };
    const lastOf = (table: string): number =>
      Number(db.prepare(`SELECT max(id) AS last FROM ${table}`).get()?.['last'] ?? 0);
    this.#terms = new SqliteTerms(db);
    this.#lastPage = lastOf('pages');
    this.#lastLink = lastOf('links');
    this.#statements = {
      page: db.prepare(
        `INSERT INTO pages (id, path, key, title, language, version, tag, groups, boost, markdown, peoples_markdown, title_terms, name_terms, keyword_terms, path_terms, text_length)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      passage: db.prepare(
        'INSERT INTO passages (id, anchor, heading, text, heading_terms, text_length, counts) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ),
      words: db.prepare('INSERT INTO words (rowid, title, path, heading, text) VALUES (?, ?, ?, ?, ?)'),
      link: db.prepare('INSERT INTO links (id, page, target, terms) VALUES (?, ?, ?, ?)'),
      linkWords: db.prepare('INSERT INTO link_words (rowid, terms) VALUES (?, ?)'),
      pageOf: db.prepare('SELECT id, title_terms, keyword_terms, path_terms FROM pages WHERE path = ?'),
      passagesOf: db.prepare(
        'SELECT id, heading_terms, text_length, counts FROM passages WHERE id BETWEEN ? AND ? ORDER BY id',
      ),
      linksOf: db.prepare('SELECT id, terms FROM links WHERE page = ? ORDER BY id'),
      removePassage: db.prepare('DELETE FROM passages WHERE id = ?'),
      removeVector: this.#hasVectors ? db.prepare('DELETE FROM passage_vectors WHERE passage = ?') : undefined,
      removeLink: db.prepare('DELETE FROM links WHERE id = ?'),
      removePage: db.prepare('DELETE FROM pages WHERE id = ?'),
    };
  }

  known(): Map<string, string> {
    const rows = this.#db.prepare('SELECT path, key FROM pages').all();
    return new Map(rows.map(({ path, key }) => [String(path), String(key)]));
  }

  setSynonyms(groups: readonly (readonly string[])[]): void {
    this.#db.exec('DELETE FROM synonyms');
    const insert = this.#db.prepare('INSERT INTO synonyms (expressions) VALUES (?)');
    for (const group of groups) insert.run(JSON.stringify(group));
  }

  add(page: SearchPage): void {
    const terms = pageTerms(page);
    const passages = page.passages.slice(0, mostPassagesOfPage);
    const texts = passages.map(({ text }) => analyzeWithNumbers(text, this.#terms.numbers));
    const textLength = texts.reduce((sum, text) => sum + text.ids.length, 0);
    this.#lastPage += 1;
    const pageId = this.#lastPage;
    this.#statements.page.run(
      pageId,
      page.path,
      page.key,
      page.title,
      page.language ?? null,
      page.version ?? null,
      page.tag ?? null,
      JSON.stringify(page.groups),
      page.boost,
      page.markdown,
      page.peoplesMarkdown ?? null,
      terms.title.join(' '),
      joinNames(terms.names),
      terms.keywords.join(' '),
      terms.path.join(' '),
      textLength,
    );
    const title = [...terms.title, ...terms.keywords];
    const ofPage = { title: this.#terms.idsOf(title), path: this.#terms.idsOf(terms.path) };
    const [titleWords, pathWords] = [title.join(' '), terms.path.join(' ')];
    for (const [position, { anchor, heading, text }] of passages.entries()) {
      const ofText = texts[position] ?? { terms: [], ids: [] };
      const ofHeading = analyzeWithNumbers(heading, this.#terms.numbers);
      const ids = { ...ofPage, heading: ofHeading.ids, text: ofText.ids };
      const id = passageId(pageId, position);
      const headingWords = ofHeading.terms.join(' ');
      this.#statements.passage.run(id, anchor, heading, text, headingWords, ids.text.length, packCounts(ids.text));
      this.#statements.words.run(id, titleWords, pathWords, headingWords, ofText.terms.join(' '));
      this.#count(ids, ids.text.length, 1);
    }
    for (const { to, text } of page.links) {
      const link = analyzeText(text).join(' ');
      if (link === '') continue;
      this.#lastLink += 1;
      this.#statements.link.run(this.#lastLink, pageId, to, link);
      this.#statements.linkWords.run(this.#lastLink, link);
      this.#terms.inLinks.add([this.#terms.idsOf(link.split(' '))], 1);
    }
  }

  remove(path: string): void {
    const is = this.#statements;
    const page = is.pageOf.get(path) as Record<string, unknown>;
    const title = this.#terms.idsOf([...split(page['title_terms']), ...split(page['keyword_terms'])]);
    const ofPage = { title, path: this.#terms.idsOf(split(page['path_terms'])) };
    const pageId = Number(page['id']);
    for (const row of is.passagesOf.all(passageId(pageId, 0), passageId(pageId + 1, 0) - 1)) {
      const id = Number(row['id']);
      const heading = this.#terms.idsOf(split(row['heading_terms']));
      const text = countedIds(row['counts'] as Uint8Array);
      this.#count({ ...ofPage, heading, text }, Number(row['text_length']), -1);
      this.#removed.words.push(id);
      is.removePassage.run(id);
      is.removeVector?.run(id);
    }
    for (const { id, terms } of is.linksOf.all(pageId)) {
      this.#terms.inLinks.add([this.#terms.idsOf(split(terms))], -1);
      this.#removed.linkWords.push(Number(id));
      is.removeLink.run(Number(id));
    }
    is.removePage.run(pageId);
  }

  /** Writes the counts. Returns the number of passages. */
  finish(): number {
    for (const [table, rows] of [
      ['words', this.#removed.words] as const,
      ['link_words', this.#removed.linkWords] as const,
    ]) {
      const remove = this.#db.prepare(`DELETE FROM ${table} WHERE rowid = ?`);
      for (const row of rows.sort((a, b) => a - b)) remove.run(row);
    }
    this.#terms.write();
    const columns = Object.keys(this.#sums);
    this.#db
      .prepare(`UPDATE facts SET ${columns.map((column) => `${column} = ?`).join(', ')}`)
      .run(...columns.map((column) => this.#sums[column] ?? 0));
    // Vectors of reused pages stay. Because of this flag the indexer looks for passages without a vector.
    if (this.#hasVectors) this.#db.exec('UPDATE vector_facts SET complete = 0');
    return this.#sums['passages'] ?? 0;
  }

  /** `text`: its terms, each at least once; `textLength`: their number with repetitions. */
  #count(
    { title, path, heading, text }: Record<(typeof fields)[number], Iterable<number> & { length: number }>,
    textLength: number,
    more: 1 | -1,
  ): void {
    const sums = this.#sums;
    const lengths = { title: title.length, path: path.length, heading: heading.length, text: textLength };
    sums['passages'] = (sums['passages'] ?? 0) + more;
    for (const field of fields) sums[field] = (sums[field] ?? 0) + more * lengths[field];
    this.#terms.inPassages.add([title, path, heading, text], more);
  }
}
