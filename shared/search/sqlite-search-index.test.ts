import { mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { searchFiltersContract } from './search-filters.contract.ts';
import { searchIndexContract } from './search-index.contract.ts';
import { SearchUnavailable } from './search-index.ts';
import { searchVectorsContract } from './vectors/search-vectors.contract.ts';
import { sqliteSearchIndex } from './sqlite-search-index.ts';

async function openSqlite() {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-search-'));
  const index = sqliteSearchIndex(folder);
  return {
    index,
    reopen: () => sqliteSearchIndex(folder),
    end: async () => {
      await index.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

searchIndexContract(openSqlite);
searchFiltersContract(openSqlite, { runs: 10 });
searchVectorsContract(openSqlite);

const scope = { organization: 'acme', domain: 'docs', contentVersion: 'cv_1' };

async function filledIndex() {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-search-'));
  const index = sqliteSearchIndex(folder);
  const build = await index.startBuild(scope);
  const passages = Array.from({ length: 200 }, (_, at) => ({
    anchor: `a${at}`,
    heading: '',
    text: `words ${at} `.repeat(50),
  }));
  const shown = {
    path: 'a',
    key: 'a',
    title: 'A',
    names: [],
    keywords: [],
    groups: [],
    boost: 1,
    links: [],
    markdown: '# A\n',
  };
  await build.add([{ ...shown, passages }]);
  await build.commit();
  const file = join(folder, 'acme', 'docs', 'cv_1.db');
  return { folder, file, index, end: () => index.close().then(() => rm(folder, { recursive: true, force: true })) };
}

test('a damaged file is noticed, put aside, and as one that is not there', async () => {
  const { folder, file, index, end } = await filledIndex();
  await index.close();
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(64 * 1024, 7), 0, 64 * 1024, 8_192);
  await handle.close();
  const again = sqliteSearchIndex(folder);
  await expect(again.search({ ...scope, query: 'words', limit: 5 })).rejects.toBeInstanceOf(SearchUnavailable);
  expect(await again.passageCount(scope)).toBeUndefined();
  expect(await readdir(join(folder, 'acme', 'docs'))).toEqual(['cv_1.db.damaged']);
  await again.close();
  await end();
});

test('a file that is none of ours is put aside, too', async () => {
  const { folder, file, index, end } = await filledIndex();
  await index.close();
  await writeFile(file, 'not a database, and long enough to be read as one '.repeat(100));
  const again = sqliteSearchIndex(folder);
  expect(await again.passageCount(scope)).toBeUndefined();
  expect(await again.search({ ...scope, query: 'words', limit: 5 })).toEqual([]);
  await again.close();
  await end();
});
