import { link, mkdir, mkdtemp, open, readdir, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { searchFiltersContract } from '#shared/search/search-filters.contract.ts';
import { searchIndexContract } from '#shared/search/search-index.contract.ts';
import { SearchUnavailable } from '#shared/search/search-index.ts';
import { keptIn, keptOfFiles } from './sqlite-kept.ts';
import { isStorageFailure } from './sqlite-passages.ts';
import { searchVectorsContract } from '#shared/search/vectors/search-vectors.contract.ts';
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

test('a damaged file is detected, moved away, and counts as missing', async () => {
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

test('a file of another program is moved away, too', async () => {
  const { folder, file, index, end } = await filledIndex();
  await index.close();
  await writeFile(file, 'not a database, and long enough to be read as one '.repeat(100));
  const again = sqliteSearchIndex(folder);
  expect(await again.passageCount(scope)).toBeUndefined();
  expect(await again.search({ ...scope, query: 'words', limit: 5 })).toEqual([]);
  await again.close();
  await end();
});

test('a later build removes the unfinished build of a dead process, and nothing else', async () => {
  const { folder, file, index, end } = await filledIndex();
  const dead = await index.startBuild(scope);
  const name = (await readdir(join(folder, 'acme', 'docs'))).find((each) => each.endsWith('.building'));
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  await utimes(join(folder, 'acme', 'docs', name ?? ''), longAgo, longAgo);
  await utimes(file, longAgo, longAgo);
  const under = await index.startBuild(scope);
  const another = await index.startBuild({ ...scope, contentVersion: 'cv_2' });
  const left = await readdir(join(folder, 'acme', 'docs'));
  expect(left).not.toContain(name);
  expect([left.length, left.includes('cv_1.db')]).toEqual([3, true]);
  await Promise.all([dead.abandon(), under.abandon(), another.abandon()]);
  await end();
});

test.runIf(process.platform === 'linux')('when many domains are searched, only some files are open', async () => {
  const { folder, file, index, end } = await filledIndex();
  const domains = Array.from({ length: 150 }, (_, at) => `docs-${at}`);
  for (const domain of domains) {
    await mkdir(join(folder, 'acme', domain));
    await link(file, join(folder, 'acme', domain, 'cv_1.db'));
  }
  const openFiles = async (): Promise<number> => {
    const opened = await Promise.all(
      (await readdir('/proc/self/fd')).map((each) => readlink(`/proc/self/fd/${each}`).catch(() => '')),
    );
    return opened.filter((target) => target.startsWith(folder)).length;
  };
  for (const _ of [1, 2])
    for (const domain of domains)
      expect(await index.search({ ...scope, domain, query: 'words', limit: 1 })).toHaveLength(1);
  expect(await openFiles()).toBe(40);
  await index.close();
  expect(await openFiles()).toBe(0);
  await end();
});

test('the cache of a file works after any number of opened files', async () => {
  const { file, end } = await filledIndex();
  const db = new DatabaseSync(file, { readOnly: true });
  const kept = keptOfFiles();
  for (let opened = 0; opened < 4_200; opened += 1) keptIn(db, kept);
  const { passages, pages } = keptIn(db, kept);
  const ids = [65_536, 65_537, 65_538, 65_539];
  for (const _ of ['read', 'kept']) {
    expect(passages(ids).map(({ id }) => id)).toEqual(ids);
    expect(pages([1]).map(({ path }) => path)).toEqual(['a']);
  }
  db.close();
  await end();
});

test('only a part of a huge vocabulary is compared with a misspelt word', async () => {
  const { folder, file, index, end } = await filledIndex();
  const misspelt = async (): Promise<number> => (await index.search({ ...scope, query: 'wrods', limit: 5 })).length;
  expect(await misspelt()).toBeGreaterThan(0);
  await index.close();
  const db = new DatabaseSync(file);
  db.exec("UPDATE terms SET id = 100001 WHERE term = 'word'");
  db.close();
  const again = sqliteSearchIndex(folder);
  expect(await again.search({ ...scope, query: 'wrods', limit: 5 })).toEqual([]);
  await again.close();
  await end();
});

test('a build on another one writes the words of all changes at once', async () => {
  const { folder, index, end } = await filledIndex();
  const page = (path: string, edition: number) => ({
    ...{ path, key: `${path} ${edition}`, title: path, names: [], keywords: [], groups: [], boost: 1, markdown: '' },
    links: [{ to: 'a', text: `see words of edition ${edition}` }],
    passages: [1, 2].map((at) => ({ anchor: `a${at}`, heading: `Part ${at}`, text: `text of edition ${edition}` })),
  });
  const paths = Array.from({ length: 60 }, (_, at) => `page-${at}`);
  for (const [edition, from] of [undefined, 'cv_20', 'cv_21'].entries()) {
    const build = await index.startBuild({ ...scope, contentVersion: `cv_2${edition}` }, { from });
    const isChanged = (at: number): boolean => edition === 0 || at % 20 === edition;
    for (const [at, path] of paths.entries())
      await (isChanged(at) ? build.add([page(path, edition)]) : build.keep([path]));
    await build.commit();
    const db = new DatabaseSync(join(folder, 'acme', 'docs', `cv_2${edition}.db`), { readOnly: true });
    // FTS5 numbers a segment's rows from its own number × 2^37; rows 1 and 10 describe all of them.
    const segments = (table: string): unknown =>
      db.prepare(`SELECT count(DISTINCT (id >> 37) & 65535) AS count FROM ${table}_data WHERE id > 10`).get()?.[
        'count'
      ];
    expect([edition, segments('words'), segments('link_words')]).toEqual([edition, edition + 1, edition + 1]);
    db.close();
  }
  await end();
});

test('numbers of words that no page has any more are reused', async () => {
  const { folder, index, end } = await filledIndex();
  const text = (edition: number): string =>
    Array.from({ length: 50 }, (_, at) => `edition${edition}word${at}`).join(' ');
  const page = { path: 'a', title: 'A', names: [], keywords: [], groups: [], boost: 1, links: [], markdown: '' };
  for (let edition = 1; edition <= 10; edition += 1) {
    const from = edition === 1 ? undefined : `cv_${edition - 1}`;
    const build = await index.startBuild({ ...scope, contentVersion: `cv_${edition}` }, { from });
    await build.add([{ ...page, key: `${edition}`, passages: [{ anchor: '', heading: '', text: text(edition) }] }]);
    await build.commit();
  }
  const db = new DatabaseSync(join(folder, 'acme', 'docs', 'cv_10.db'), { readOnly: true });
  const terms = db.prepare('SELECT count(*) AS count, max(id) AS last FROM terms').get();
  // Terms that a version no longer uses are removed only in the second version after it, because only then are they known to be unused.
  expect({ ...terms }).toEqual({ count: 101, last: 101 });
  db.close();
  const latest = { ...scope, contentVersion: 'cv_10', limit: 5 };
  expect(await index.search({ ...latest, query: 'edition10word7' })).toHaveLength(1);
  await end();
});

test('a file shrinks after most of its content was removed', async () => {
  const { folder, index, end } = await filledIndex();
  const small = { path: 'b', title: 'B', names: [], keywords: [], groups: [], boost: 1, links: [], markdown: '' };
  const sizes: number[] = [];
  for (const [from, contentVersion] of [
    ['cv_1', 'cv_2'],
    ['cv_2', 'cv_3'],
  ] as const) {
    const build = await index.startBuild({ ...scope, contentVersion }, { from });
    await build.add([{ ...small, key: contentVersion, passages: [{ anchor: '', heading: '', text: 'words remain' }] }]);
    await build.commit();
    sizes.push((await stat(join(folder, 'acme', 'docs', `${contentVersion}.db`))).size);
  }
  const [before = 0, after = 0] = sizes;
  expect(after).toBeLessThan(before / 2);
  expect(await index.search({ ...scope, contentVersion: 'cv_3', query: 'words', limit: 5 })).toMatchObject([
    { path: 'b' },
  ]);
  await end();
});

test('a read-only place is unavailable, and the wrong use of a build is a different error', async () => {
  const { folder, index, end } = await filledIndex();
  await writeFile(join(folder, 'globex'), 'no folder');
  await expect(index.startBuild({ ...scope, organization: 'globex' })).rejects.toBeInstanceOf(SearchUnavailable);
  const wrong = await index.startBuild({ ...scope, contentVersion: 'cv_2' });
  await expect(wrong.add([{} as never])).rejects.toBeInstanceOf(TypeError);
  await wrong.abandon();
  const statement = (errcode: number) => Object.assign(new Error('SQLite says'), { errcode });
  // The codes mean: full, cannot be written, a constraint failed, malformed.
  expect([13, 10 + 3 * 256, 19, 11].map((code) => isStorageFailure(statement(code)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  await end();
});

/** Memory of this process without the heap of JavaScript, whose size depends on the tests before. */
const nativeBytes = (): number => {
  const { rss, heapTotal } = process.memoryUsage();
  return rss - heapTotal;
};

// The indexer's memory must not depend on the size of the site.
test('a build that changes every page of its base does not hold them in memory', async () => {
  const { folder, index, end } = await filledIndex();
  const markdown = 'text '.repeat(80_000);
  const page = {
    path: 'a',
    title: 'A',
    names: [],
    keywords: [],
    groups: [],
    boost: 1,
    links: [],
    passages: [],
    markdown,
  };
  const rewrite = async (contentVersion: string, from: string | undefined): Promise<number> => {
    const build = await index.startBuild({ ...scope, contentVersion }, { from });
    const before = nativeBytes();
    for (let at = 0; at < 400; at += 1) await build.add([{ ...page, path: `page-${at}`, key: contentVersion }]);
    const grown = nativeBytes() - before;
    await build.commit();
    return grown;
  };
  await rewrite('cv_2', undefined);
  const { size } = await stat(join(folder, 'acme', 'docs', 'cv_2.db'));
  expect(await rewrite('cv_3', 'cv_2')).toBeLessThan(size / 2);
  expect(size).toBeGreaterThan(150_000_000);
  await end();
});
