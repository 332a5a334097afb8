import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { analyzeText, analyzeWithNumbers, type TermNumbers } from './analyze-text.ts';
import { packCounts } from './packed-counts.ts';
import { joinNames, pageTerms } from './page-terms.ts';
import { fields } from './rank-passages.ts';
import type { IndexBuild, SearchPage } from './search-index.ts';
import { isSound } from './sqlite-passages.ts';
import { mostPassagesOfPage, passageId, copyToChange, putInPlace, sqliteSchema, sqliteShape } from './sqlite-schema.ts';
import { inheritVectors, vectorFactsIn } from './vectors/sqlite-vectors.ts';

/** Of words that are not written yet. Those of nearly every site fit, and need not be merged afterwards. */
const wordsInMemoryBytes = 32 * 1024 * 1024;

/**
 * Builds the file of one content version beside its place and moves it there on `commit`. `base`: the complete file of another version of the domain; what is
 * kept of it is not written again.
 */
export async function buildSqlitePassages(
  file: string,
  base: string | undefined,
  synonyms: readonly (readonly string[])[] = [],
): Promise<IndexBuild> {
  const building = `${file}.${randomBytes(6).toString('hex')}.building`;
  const copy = base === undefined ? undefined : await copyOf(base, building);
  const db = copy ?? empty(building);
  db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536; BEGIN');
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

/** Undefined where there is no such file, or it cannot be used. */
async function copyOf(base: string, building: string): Promise<DatabaseSync | undefined> {
  let db: DatabaseSync | undefined;
  try {
    await copyToChange(base, building);
    db = new DatabaseSync(building);
    const shape = db.prepare('PRAGMA user_version').get()?.['user_version'];
    if (shape === sqliteShape && isSound(db)) return db;
  } catch {
    // A base is a help, no need: without one everything is written.
  }
  db?.close();
  await rm(building, { force: true });
  return undefined;
}

function empty(building: string): DatabaseSync {
  const db = new DatabaseSync(building);
  try {
    db.exec(sqliteSchema);
    return db;
  } catch (error) {
    // A disk that is full is tried again and again.
    db.close();
    rmSync(building, { force: true });
    throw error;
  }
}

class PassageWriter {
  readonly #db: DatabaseSync;
  readonly #statements;
  readonly #ids = new Map<string, number>();
  /** The terms that the file does not have, in the order of their ids, which follow the last one that it has. */
  readonly #newTerms: string[] = [];
  readonly #lastStored: number;
  readonly #numbers: TermNumbers = { of: (term) => this.#idOf(term), mark: {} };
  /** How many more passages and links have a term. */
  readonly #more = { passages: new TermCounts(), links: new TermCounts() };
  readonly #sums: Record<string, number>;
  readonly #hasVectors: boolean;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#hasVectors = vectorFactsIn(db) !== undefined;
    this.#sums = { ...(db.prepare('SELECT * FROM facts').get() as Record<string, number>) };
    this.#lastStored = Number(db.prepare('SELECT max(id) AS last FROM terms').get()?.['last'] ?? 0);
    this.#statements = {
      page: db.prepare(
        `INSERT INTO pages (path, key, title, language, version, tag, groups, boost, markdown, peoples_markdown, title_terms, name_terms, keyword_terms, path_terms, text_length)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      passage: db.prepare(
        'INSERT INTO passages (id, anchor, heading, text, heading_terms, text_length, counts) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ),
      words: db.prepare('INSERT INTO words (rowid, title, path, heading, text) VALUES (?, ?, ?, ?, ?)'),
      link: db.prepare('INSERT INTO links (page, target, terms) VALUES (?, ?, ?)'),
      linkWords: db.prepare('INSERT INTO link_words (rowid, terms) VALUES (?, ?)'),
      term: db.prepare('SELECT id FROM terms WHERE term = ?'),
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
    const texts = passages.map(({ text }) => analyzeWithNumbers(text, this.#numbers));
    const textLength = texts.reduce((sum, text) => sum + text.ids.length, 0);
    const { lastInsertRowid: pageId } = this.#statements.page.run(
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
    const ofPage = { title: this.#idsOf(title), path: this.#idsOf(terms.path) };
    const [titleWords, pathWords] = [title.join(' '), terms.path.join(' ')];
    for (const [position, { anchor, heading, text }] of passages.entries()) {
      const ofText = texts[position] ?? { terms: [], ids: [] };
      const ofHeading = analyzeWithNumbers(heading, this.#numbers);
      const ids = { ...ofPage, heading: ofHeading.ids, text: ofText.ids };
      const id = passageId(pageId, position);
      const headingWords = ofHeading.terms.join(' ');
      this.#statements.passage.run(id, anchor, heading, text, headingWords, ids.text.length, packCounts(ids.text));
      this.#statements.words.run(id, titleWords, pathWords, headingWords, ofText.terms.join(' '));
      this.#count(ids, 1);
    }
    for (const { to, text } of page.links) {
      const link = analyzeText(text).join(' ');
      if (link === '') continue;
      const { lastInsertRowid: id } = this.#statements.link.run(pageId, to, link);
      this.#statements.linkWords.run(id, link);
      this.#more.links.add([this.#idsOf(link.split(' '))], 1);
    }
  }

  remove(path: string): void {
    const db = this.#db;
    const page = db
      .prepare('SELECT id, title_terms, keyword_terms, path_terms FROM pages WHERE path = ?')
      .get(path) as Record<string, unknown>;
    const title = this.#idsOf([...split(page['title_terms']), ...split(page['keyword_terms'])]);
    const id = Number(page['id']);
    const passages = [passageId(id, 0), passageId(id + 1, 0) - 1];
    const isOfPage = 'BETWEEN ? AND ?';
    for (const row of db.prepare(`SELECT text, heading_terms FROM passages WHERE id ${isOfPage}`).all(...passages)) {
      const [heading, text] = [this.#idsOf(split(row['heading_terms'])), this.#idsOf(analyzeText(String(row['text'])))];
      this.#count({ title, path: this.#idsOf(split(page['path_terms'])), heading, text }, -1);
    }
    db.prepare(`DELETE FROM words WHERE rowid ${isOfPage}`).run(...passages);
    db.prepare(`DELETE FROM passages WHERE id ${isOfPage}`).run(...passages);
    if (this.#hasVectors) db.prepare(`DELETE FROM passage_vectors WHERE passage ${isOfPage}`).run(...passages);
    for (const row of db.prepare('SELECT terms FROM links WHERE page = ?').all(id))
      this.#more.links.add([this.#idsOf(split(row['terms']))], -1);
    db.prepare('DELETE FROM link_words WHERE rowid IN (SELECT id FROM links WHERE page = ?)').run(id);
    db.prepare('DELETE FROM links WHERE page = ?').run(id);
    db.prepare('DELETE FROM pages WHERE id = ?').run(id);
  }

  /** Writes what was counted; answers how many passages there are. */
  finish(): number {
    const { passages, links } = this.#more;
    const update = this.#db.prepare('UPDATE terms SET passages = passages + ?, links = links + ? WHERE id = ?');
    for (let id = 1; id <= this.#lastStored; id += 1) {
      if (passages.of(id) !== 0 || links.of(id) !== 0) update.run(passages.of(id), links.of(id), id);
    }
    const insert = this.#db.prepare('INSERT INTO terms (id, term, passages, links) VALUES (?, ?, ?, ?)');
    for (const [at, term] of this.#newTerms.entries()) {
      const id = this.#lastStored + 1 + at;
      insert.run(id, term, passages.of(id), links.of(id));
    }
    const columns = Object.keys(this.#sums);
    this.#db
      .prepare(`UPDATE facts SET ${columns.map((column) => `${column} = ?`).join(', ')}`)
      .run(...columns.map((column) => this.#sums[column] ?? 0));
    // Those of pages that were taken over stay. Somebody looks for what lacks one.
    if (this.#hasVectors) this.#db.exec('UPDATE vector_facts SET complete = 0');
    return this.#sums['passages'] ?? 0;
  }

  #count(ids: Record<(typeof fields)[number], readonly number[]>, more: 1 | -1): void {
    const sums = this.#sums;
    sums['passages'] = (sums['passages'] ?? 0) + more;
    for (const field of fields) sums[field] = (sums[field] ?? 0) + more * ids[field].length;
    this.#more.passages.add(
      fields.map((field) => ids[field]),
      more,
    );
  }

  #idsOf(terms: readonly string[]): number[] {
    return terms.map((term) => this.#idOf(term));
  }

  #idOf(term: string): number {
    const known = this.#ids.get(term);
    if (known !== undefined) return known;
    const stored = this.#lastStored === 0 ? undefined : this.#statements.term.get(term)?.['id'];
    const id = stored === undefined ? this.#lastStored + this.#newTerms.push(term) : Number(stored);
    this.#ids.set(term, id);
    return id;
  }
}

/** Counts by id of a term, which are small numbers without gaps. */
class TermCounts {
  #counts = new Int32Array(4_096);
  /** The last text that had the term. */
  #lastIn = new Uint32Array(4_096);
  #texts = 0;

  /** Counts each term of a text once, in however many lists it is. */
  add(lists: readonly (readonly number[])[], more: 1 | -1): void {
    this.#texts += 1;
    for (const ids of lists) {
      for (const id of ids) {
        if (id >= this.#counts.length) this.#grow(id);
        if (this.#lastIn[id] === this.#texts) continue;
        this.#lastIn[id] = this.#texts;
        this.#counts[id] = (this.#counts[id] ?? 0) + more;
      }
    }
  }

  of(id: number): number {
    return this.#counts[id] ?? 0;
  }

  #grow(id: number): void {
    const length = 2 ** Math.ceil(Math.log2(id + 1));
    const [counts, lastIn] = [new Int32Array(length), new Uint32Array(length)];
    counts.set(this.#counts);
    lastIn.set(this.#lastIn);
    [this.#counts, this.#lastIn] = [counts, lastIn];
  }
}

const split = (value: unknown): string[] => (value === '' ? [] : String(value).split(' '));
