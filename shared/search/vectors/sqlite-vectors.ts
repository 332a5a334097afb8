import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import {
  checkLengths,
  embeddedText,
  meaningOf,
  mostNeighbours,
  mostSampled,
  type Neighbours,
  typicalCosineOf,
  vectorDigest,
  type VectorFacts,
} from './meaning.ts';
import { SearchUnavailable, type VectorBuild } from '../search-index.ts';
import { copyToChange, putInPlace, withoutJournal } from '#shared/search/sqlite/sqlite-schema.ts';

/**
 * Vectors are in the file of their version, in tables that exist only if it has vectors. A vector is a factor of four bytes, and a signed
 * byte for each number; empty for a text that the model refuses. It is stored once for all passages with the same text. `complete`: no
 * passage lacks a vector.
 */
const vectorSchema = `
  CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, vector BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS passage_vectors (passage INTEGER PRIMARY KEY, vector INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS vector_facts (model TEXT NOT NULL, dimensions INTEGER NOT NULL, typical_cosine REAL NOT NULL, complete INTEGER NOT NULL);
`;

type StoredFacts = VectorFacts & { isComplete: boolean };

/** Reads the facts about the vectors of a file; undefined if it has no vectors. */
export function vectorFactsIn(db: DatabaseSync): StoredFacts | undefined {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'vector_facts'").get() === undefined) return undefined;
  const row = db.prepare('SELECT * FROM vector_facts').get();
  return (
    row && {
      model: String(row['model']),
      dimensions: Number(row['dimensions']),
      typicalCosine: Number(row['typical_cosine']),
      isComplete: row['complete'] === 1,
    }
  );
}

/** All vectors of a file in memory, compared one after the other. Each passage in `ids` has one factor, and as many numbers as a vector has. */
export type VectorMatrix = {
  facts: VectorFacts;
  ids: Float64Array;
  factors: Float32Array;
  numbers: Int8Array;
};

/** Reads all vectors of a file into memory. Passages whose text the model refuses are left out. */
export function readMatrix(db: DatabaseSync, facts: VectorFacts): VectorMatrix {
  const { dimensions } = facts;
  const rows = db.prepare(
    `SELECT p.passage, v.vector FROM passage_vectors p JOIN vectors v ON v.id = p.vector
     WHERE length(v.vector) = ${factorBytes + dimensions} ORDER BY p.passage`,
  );
  const most = Number(db.prepare('SELECT count(*) AS count FROM passage_vectors').get()?.['count']);
  const ids = new Float64Array(most);
  const factors = new Float32Array(most);
  const numbers = new Int8Array(most * dimensions);
  let count = 0;
  for (const row of rows.iterate()) {
    const bytes = row['vector'] as Uint8Array;
    ids[count] = Number(row['passage']);
    factors[count] = new DataView(bytes.buffer, bytes.byteOffset).getFloat32(0, true);
    numbers.set(new Int8Array(bytes.buffer, bytes.byteOffset + factorBytes, dimensions), count * dimensions);
    count += 1;
  }
  return { facts, ids: ids.subarray(0, count), factors, numbers };
}

/**
 * The passages that are nearer to the question than two passages of the site usually are to each other, with their similarity, the nearest first.
 * Compares each visible passage.
 */
export function nearestIn(
  { facts, ids, factors, numbers }: VectorMatrix,
  question: Float32Array,
  isVisible: (id: number) => boolean,
): Neighbours<number> {
  const near: number[] = [];
  const meanings = new Float32Array(ids.length);
  for (let at = 0; at < ids.length; at += 1) {
    if (!isVisible(ids[at] as number)) continue;
    const cosine = product(numbers, at * question.length, question) * (factors[at] as number);
    const meaning = meaningOf(cosine, facts.typicalCosine);
    if (meaning === 0) continue;
    meanings[at] = meaning;
    near.push(at);
  }
  // Sorting numbers is several times as fast as sorting passages by them.
  const least = near.length <= mostNeighbours ? 0 : (meanings.toSorted().at(-mostNeighbours) ?? 0);
  const nearest = near.filter((at) => (meanings[at] as number) >= least);
  nearest.sort((a, b) => (meanings[b] as number) - (meanings[a] as number) || a - b);
  return new Map(nearest.slice(0, mostNeighbours).map((at) => [ids[at] as number, meanings[at] as number]));
}

/** Dot product of a vector of bytes and the question. It uses four sums, so that no addition waits for the previous one. */
function product(numbers: Int8Array, from: number, question: Float32Array): number {
  const length = question.length;
  const whole = length - (length % 4);
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let at = 0; at < whole; at += 4) {
    a += (numbers[from + at] as number) * (question[at] as number);
    b += (numbers[from + at + 1] as number) * (question[at + 1] as number);
    c += (numbers[from + at + 2] as number) * (question[at + 2] as number);
    d += (numbers[from + at + 3] as number) * (question[at + 3] as number);
  }
  for (let at = whole; at < length; at += 1) a += (numbers[from + at] as number) * (question[at] as number);
  return a + b + c + d;
}

/**
 * Copies vectors into a file that is built from scratch, from the first of the given files that has vectors, so that unchanged texts are not embedded
 * again.
 */
export function inheritVectors(db: DatabaseSync, files: readonly string[]): void {
  for (const file of files) {
    if (!existsSync(file)) continue;
    try {
      const from = new DatabaseSync(file, { readOnly: true });
      try {
        const facts = vectorFactsIn(from);
        if (facts === undefined) continue;
        const rows = from.prepare('SELECT digest, vector FROM vectors').all();
        db.exec(vectorSchema);
        const insert = db.prepare('INSERT OR REPLACE INTO vectors (digest, vector) VALUES (?, ?)');
        for (const row of rows) insert.run(row['digest'] as Uint8Array, row['vector'] as Uint8Array);
        const { model, dimensions, typicalCosine } = facts;
        db.prepare('INSERT INTO vector_facts VALUES (?, ?, ?, 0)').run(model, dimensions, typicalCosine);
        return;
      } finally {
        from.close();
      }
    } catch {
      // A damaged file has no usable vectors. Its texts are embedded again.
    }
  }
}

/** Adds vectors to a copy of a version's file, which then replaces it. */
export function startSqliteVectors(file: string, model: string): VectorBuild | undefined {
  let state = stateOf(file);
  const found = passagesIn(file, model);
  if (found === undefined) return undefined;
  const { digests, texts, stored } = found;
  const added = new Map<string, Uint8Array>();
  let dimensions = found.dimensions;

  async function writeCopy(building: string): Promise<void> {
    await copyToChange(file, building);
    const db = new DatabaseSync(building, withoutJournal);
    try {
      db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; ${vectorSchema}`);
      if (vectorFactsIn(db)?.model !== model) db.exec('DELETE FROM vectors');
      const insert = db.prepare('INSERT OR REPLACE INTO vectors (digest, vector) VALUES (?, ?)');
      for (const [digest, vector] of added) insert.run(Buffer.from(digest, 'hex'), vector);
      db.exec('DELETE FROM passage_vectors; DELETE FROM vector_facts');
      const link = db.prepare(
        'INSERT INTO passage_vectors (passage, vector) SELECT ?, id FROM vectors WHERE digest = ?',
      );
      let isComplete = true;
      for (const [passage, digest] of digests) {
        if (stored.has(digest) || added.has(digest)) link.run(passage, Buffer.from(digest, 'hex'));
        else isComplete = false;
      }
      db.exec('DELETE FROM vectors WHERE id NOT IN (SELECT vector FROM passage_vectors)');
      const sample = db
        .prepare(`SELECT vector FROM vectors WHERE length(vector) > 0 ORDER BY digest LIMIT ${mostSampled}`)
        .all()
        .map((row) => unpackVector(row['vector'] as Uint8Array));
      db.prepare('INSERT INTO vector_facts VALUES (?, ?, ?, ?)').run(
        ...([model, dimensions ?? 0, typicalCosineOf(sample), isComplete ? 1 : 0] as const),
      );
      db.exec('COMMIT');
    } finally {
      db.close();
    }
  }

  return {
    missing: new Map([...texts].filter(([digest]) => !stored.has(digest))),
    async add(vectors) {
      dimensions = checkLengths(vectors.values(), dimensions);
      for (const [digest, vector] of vectors)
        added.set(digest, vector === undefined ? new Uint8Array() : packVector(vector));
    },
    async commit() {
      const building = `${file}.${randomBytes(6).toString('hex')}.building`;
      try {
        await writeCopy(building);
        if (stateOf(file) !== state) throw new SearchUnavailable('The version was replaced while vectors were added.');
        await putInPlace(building, file);
        state = stateOf(file);
      } finally {
        await rm(building, { force: true });
      }
    },
    async close() {
      added.clear();
    },
  };
}

type PassagesOfFile = {
  /** Digests by passage. */
  digests: Map<number, string>;
  /** Texts by digest. */
  texts: Map<string, string>;
  /** Digests that have a vector. */
  stored: Set<string>;
  dimensions: number | undefined;
};

/** The passages of a file that may have vectors, which are those of pages without groups. Undefined when each has a vector of the model. */
function passagesIn(file: string, model: string): PassagesOfFile | undefined {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 2_000 });
  try {
    const facts = vectorFactsIn(db);
    const isSame = facts?.model === model;
    if (isSame && facts.isComplete) return undefined;
    const rows = db.prepare(
      `SELECT s.id, p.title, s.heading, s.text FROM passages s JOIN pages p ON p.id = s.id >> 16 WHERE p.groups = '[]'`,
    );
    const digests = new Map<number, string>();
    const texts = new Map<string, string>();
    for (const row of rows.iterate()) {
      const text = embeddedText({
        title: String(row['title']),
        heading: String(row['heading']),
        text: String(row['text']),
      });
      const digest = vectorDigest(model, text);
      digests.set(Number(row['id']), digest);
      texts.set(digest, text);
    }
    const stored = isSame
      ? db
          .prepare('SELECT lower(hex(digest)) AS digest FROM vectors')
          .all()
          .map((row) => String(row['digest']))
      : [];
    return { digests, texts, stored: new Set(stored), dimensions: isSame ? facts.dimensions || undefined : undefined };
  } finally {
    db.close();
  }
}

/** A text that differs for each file that has been in this place. */
function stateOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino} ${found.ctimeNs}`;
}

const factorBytes = 4;

/** A vector of length 1 in a quarter of the bytes. Cosines change by less than 0.01. */
export function packVector(vector: Float32Array): Uint8Array {
  let most = 0;
  for (const number of vector) most = Math.max(most, Math.abs(number));
  const factor = most / 127;
  const bytes = new Uint8Array(factorBytes + vector.length);
  new DataView(bytes.buffer).setFloat32(0, factor, true);
  const numbers = new Int8Array(bytes.buffer, factorBytes);
  for (const [at, number] of vector.entries()) numbers[at] = Math.round(number / factor);
  return bytes;
}

/** The vector that `packVector` packed, with its rounding. */
export function unpackVector(bytes: Uint8Array): Float32Array {
  const factor = new DataView(bytes.buffer, bytes.byteOffset).getFloat32(0, true);
  return Float32Array.from(bytes.subarray(factorBytes), (byte) => ((byte << 24) >> 24) * factor);
}
