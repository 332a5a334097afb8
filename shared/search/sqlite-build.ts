import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { analyzeText } from './analyze-text.ts';
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
  /** By id of a term: how many more passages and links have it. */
  readonly #more = { passages: new Map<number, number>(), links: new Map<number, number>() };
  readonly #sums: Record<string, number>;
  readonly #hasVectors: boolean;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#hasVectors = vectorFactsIn(db) !== undefined;
    this.#sums = { ...(db.prepare('SELECT * FROM facts').get() as Record<string, number>) };
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
      newTerm: db.prepare('INSERT INTO terms (term, passages, links) VALUES (?, 0, 0)'),
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
    const texts = passages.map(({ text }) => analyzeText(text));
    const textLength = texts.reduce((sum, text) => sum + text.length, 0);
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
      const [headingTerms, textTerms] = [analyzeText(heading), texts[position] ?? []];
      const ids = { ...ofPage, heading: this.#idsOf(headingTerms), text: this.#idsOf(textTerms) };
      const id = passageId(pageId, position);
      const headingWords = headingTerms.join(' ');
      this.#statements.passage.run(id, anchor, heading, text, headingWords, textTerms.length, packCounts(ids.text));
      this.#statements.words.run(id, titleWords, pathWords, headingWords, textTerms.join(' '));
      this.#count(ids, 1);
    }
    for (const { to, text } of page.links) {
      const link = analyzeText(text).join(' ');
      if (link === '') continue;
      const { lastInsertRowid: id } = this.#statements.link.run(pageId, to, link);
      this.#statements.linkWords.run(id, link);
      this.#countTerms('links', new Set(this.#idsOf(link.split(' '))), 1);
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
      this.#countTerms('links', new Set(this.#idsOf(split(row['terms']))), -1);
    db.prepare('DELETE FROM link_words WHERE rowid IN (SELECT id FROM links WHERE page = ?)').run(id);
    db.prepare('DELETE FROM links WHERE page = ?').run(id);
    db.prepare('DELETE FROM pages WHERE id = ?').run(id);
  }

  /** Writes what was counted; answers how many passages there are. */
  finish(): number {
    for (const column of ['passages', 'links'] as const) {
      const update = this.#db.prepare(`UPDATE terms SET ${column} = ${column} + ? WHERE id = ?`);
      for (const [id, more] of this.#more[column]) if (more !== 0) update.run(more, id);
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
    const terms = new Set<number>();
    for (const field of fields) {
      sums[field] = (sums[field] ?? 0) + more * ids[field].length;
      for (const id of ids[field]) terms.add(id);
    }
    this.#countTerms('passages', terms, more);
  }

  #countTerms(of: 'passages' | 'links', terms: ReadonlySet<number>, more: 1 | -1): void {
    const counts = this.#more[of];
    for (const id of terms) counts.set(id, (counts.get(id) ?? 0) + more);
  }

  #idsOf(terms: readonly string[]): number[] {
    return terms.map((term) => this.#idOf(term));
  }

  #idOf(term: string): number {
    const known = this.#ids.get(term);
    if (known !== undefined) return known;
    const stored = this.#statements.term.get(term)?.['id'];
    const id = Number(stored ?? this.#statements.newTerm.run(term).lastInsertRowid);
    this.#ids.set(term, id);
    return id;
  }
}

const split = (value: unknown): string[] => (value === '' ? [] : String(value).split(' '));
