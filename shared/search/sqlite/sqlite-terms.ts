import type { DatabaseSync } from 'node:sqlite';
import type { TermNumbers } from '#shared/search/ranking/analyze-text.ts';

/** The terms of a file that is being built: the number of each, and its counts of passages and links. */
export class SqliteTerms {
  readonly numbers: TermNumbers = { of: (term) => this.#idOf(term), mark: {} };
  /** Change of the number of passages with a term, by its number. */
  readonly inPassages = new TermCounts();
  readonly inLinks = new TermCounts();
  readonly #db: DatabaseSync;
  readonly #stored;
  readonly #ids = new Map<string, number>();
  /** The terms that the file does not have yet, with their ids. */
  readonly #newTerms: { id: number; term: string }[] = [];
  readonly #lastStored: number;
  #lastTerm: number;
  /**
   * Ids of terms that pages no longer have. They are reused, because with new ids in each version, the terms of the latest version would soon lie
   * beyond the limit of compared terms.
   */
  readonly #freed: number[];
  #askedFor = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#stored = db.prepare('SELECT id FROM terms WHERE term = ?');
    this.#lastStored = Number(db.prepare('SELECT max(id) AS last FROM terms').get()?.['last'] ?? 0);
    this.#lastTerm = this.#lastStored;
    const unused = db.prepare('DELETE FROM terms WHERE passages = 0 AND links = 0 RETURNING id').all();
    this.#freed = unused.map(({ id }) => Number(id));
  }

  idsOf(terms: readonly string[]): number[] {
    return terms.map((term) => this.#idOf(term));
  }

  /** Writes new terms, and all counts. */
  write(): void {
    const [passages, links] = [this.inPassages, this.inLinks];
    const update = this.#db.prepare('UPDATE terms SET passages = passages + ?, links = links + ? WHERE id = ?');
    for (let id = 1; id <= this.#lastStored; id += 1) {
      if (passages.of(id) !== 0 || links.of(id) !== 0) update.run(passages.of(id), links.of(id), id);
    }
    const insert = this.#db.prepare('INSERT INTO terms (id, term, passages, links) VALUES (?, ?, ?, ?)');
    for (const { id, term } of this.#newTerms) insert.run(id, term, passages.of(id), links.of(id));
  }

  #idOf(term: string): number {
    const known = this.#ids.get(term);
    if (known !== undefined) return known;
    const id = this.#storedIdOf(term) ?? this.#newIdOf(term);
    this.#ids.set(term, id);
    return id;
  }

  #newIdOf(term: string): number {
    const id = this.#freed.pop() ?? (this.#lastTerm += 1);
    this.#newTerms.push({ id, term });
    return id;
  }

  /** The stored id of a term. Terms are read one by one, and all at once when many have been needed. */
  #storedIdOf(term: string): number | undefined {
    if (this.#askedFor > this.#lastStored / 16) return undefined;
    this.#askedFor += 1;
    if (this.#askedFor <= this.#lastStored / 16) {
      const id = this.#stored.get(term)?.['id'];
      return id === undefined ? undefined : Number(id);
    }
    for (const row of this.#db.prepare('SELECT id, term FROM terms').iterate())
      this.#ids.set(String(row['term']), Number(row['id']));
    return this.#ids.get(term);
  }
}

/** Counts by the ids of terms, which are small numbers without gaps. */
class TermCounts {
  #counts = new Int32Array(4_096);
  /** The last text that had the term. */
  #lastIn = new Uint32Array(4_096);
  #texts = 0;

  /** Counts each term of a text once, even if several lists contain it. */
  add(lists: readonly Iterable<number>[], more: 1 | -1): void {
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
