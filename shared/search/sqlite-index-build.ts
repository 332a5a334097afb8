import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { analyzeText } from './analyze-text.ts';
import type { IndexBuild } from './search-index.ts';
import { sqliteSchema } from './sqlite-schema.ts';

/** Builds the file of one content version beside its place and moves it there on `commit`. */
export function buildSqlitePassages(file: string): IndexBuild {
  const building = `${file}.${randomBytes(6).toString('hex')}.building`;
  const db = new DatabaseSync(building);
  // The file is worthless until it is renamed, and made again after a crash: no journal, one flush at the end.
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
        const pathTerms = analyzeText(page.path.replaceAll(/[/_-]/g, ' '));
        const titleTerms = analyzeText([page.title, ...page.keywords].join(' \n '));
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
          const headingTerms = analyzeText(heading);
          const textTerms = analyzeText(text);
          const { lastInsertRowid: id } = insertPassage.run(pageId, anchor, heading, text);
          insertWords.run(id, titleTerms.join(' '), pathTerms.join(' '), headingTerms.join(' '), textTerms.join(' '));
          lengths.title += titleTerms.length;
          lengths.path += pathTerms.length;
          lengths.heading += headingTerms.length;
          lengths.text += textTerms.length;
          passageCount += 1;
        }
      }
    },
    async commit() {
      const average = (sum: number): number => (passageCount === 0 ? 0 : sum / passageCount);
      db.prepare('INSERT INTO facts VALUES (?, ?, ?, ?, ?)').run(
        passageCount,
        average(lengths.title),
        average(lengths.path),
        average(lengths.heading),
        average(lengths.text),
      );
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
