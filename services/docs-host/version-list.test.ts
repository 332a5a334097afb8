import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { BundleRefused } from './bundle-refused.ts';
import { contentFile, newContent } from './content-folder.ts';
import { contentType } from './hosted-types.ts';
import { storeChanges } from './sorted-lines.ts';
import { type HostedFile, type HostedRedirect, readVersionList, writeHead, writeVersionList } from './version-list.ts';
import { DamagedVersion, versionLists } from './version-lists.ts';

const sha256 = 'ab'.repeat(32);
const about = {
  base: '',
  isAirGapped: false,
  token: '0'.repeat(16),
  manifest: { sha256, domain: 'acme', deployment: 'cloud' as const },
  wildcards: [],
  policies: [],
  pieces: [],
};
const fileAt = (path: string, more: Partial<HostedFile> = {}): [string, HostedFile] => [
  path,
  {
    size: path.length,
    sha256,
    digest: sha256.slice(0, 16),
    type: contentType(path),
    isPage: path.endsWith('.html'),
    isAdded: false,
    ...more,
  },
];

type Files = ReadonlyMap<string, HostedFile>;

/** Writes a list into a folder, and reads it again. */
async function written(folder: string, files: Files, redirects: ReadonlyMap<string, HostedRedirect> = new Map()) {
  const content = newContent(join(folder, 'content'), folder);
  await writeVersionList(folder, content, about, files, redirects);
  await content.commit();
  return await listIn(folder);
}

const listIn = (folder: string) => readVersionList(folder, join(folder, 'content'));

test('files and redirects are found by their names alone', async () => {
  const folder = newFolder();
  const source = { size: 3, sha256: '1'.repeat(64) };
  const page = { source, policy: "default-src 'self'", digest: '1'.repeat(16), br: { size: 1, sha256 } };
  const files = new Map([
    fileAt('index.html', page),
    fileAt('indexes.html', { ...page, policy: 'other' }),
    fileAt('a'),
    fileAt('a b/ü.png'),
    fileAt('__proto__'),
  ]);
  const redirects = new Map([
    ['/old', { to: '/x#y', permanent: true }],
    ['/a', { to: '/', permanent: false }],
  ]);
  const list = await written(folder, files, redirects);
  expect(Object.fromEntries(list?.files() ?? [])).toEqual(Object.fromEntries(files));
  for (const [path, file] of files) expect([list?.has(path), list?.file(path)]).toEqual([true, file]);
  for (const [source, redirect] of redirects) expect(list?.redirect(source)).toEqual(redirect);
  for (const path of ['', 'index', 'index.html\t', 'b', '/a', '/old', 'old', 'zzz', '{', 'constructor'])
    expect([path, list?.has(path), list?.file(path)]).toEqual([path, false, undefined]);
  for (const source of ['', 'a', '/', '/ol', '/old/', 'index.html']) expect(list?.redirect(source)).toBeUndefined();
});

test('any names are found again, and no others', async () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', ' ', '!', 'é', '😀', '\u007f'), maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(name, { maxLength: 40 }), name, async (all, other) => {
      const names = all.filter((each) => !each.startsWith('/'));
      const folder = newFolder();
      const list = await written(folder, new Map(names.map((each) => fileAt(each))));
      for (const each of names) expect(list?.file(each)?.size).toBe(each.length);
      expect(list?.has(other)).toBe(names.includes(other));
    }),
    { numRuns: 40 },
  );
});

test('a list that is damaged in any place is no list', async () => {
  const folder = newFolder();
  const list = await written(folder, new Map([fileAt('a'), fileAt('b')]));
  expect(list?.shards).toHaveLength(1);
  const shard = contentFile(join(folder, 'content'), list?.shards[0]?.sha256 ?? '');
  const head = join(folder, 'site.json');
  for (const file of [shard, head]) {
    const bytes = await readFile(file);
    for (const at of [0, 5, bytes.length >> 1, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await writeFile(file, changed);
      expect([at, await listIn(folder)]).toEqual([at, undefined]);
    }
    await writeFile(file, bytes.subarray(1));
    expect(await listIn(folder)).toBeUndefined();
    await writeFile(file, bytes);
    expect((await listIn(folder))?.has('a')).toBe(true);
  }
  await rm(shard);
  expect(await listIn(folder)).toBeUndefined();
  await writeFile(head, '{}');
  expect(await listIn(folder)).toBeUndefined();
});

test('a list of many lines has shards, of which a change replaces those with its lines', async () => {
  const folder = newFolder();
  const names = Array.from({ length: 5_000 }, (_, at) => `pages/p${at}.html`);
  const before = await written(folder, new Map(names.map((name) => fileAt(name))));
  expect(before?.shards.length).toBeGreaterThan(5);
  const content = newContent(join(folder, 'content'), folder);
  const lineAt = (name: string) => Buffer.from(`${name}\t{"size":7,"sha256":"${sha256}"}\n`);
  const changes = new Map([
    ['a.html', lineAt('a.html')],
    ['pages/p2000.html', lineAt('pages/p2000.html')],
    ['pages/p2001.html', undefined],
    ['zz.html', lineAt('zz.html')],
    ['not/there.html', undefined],
  ]);
  if (before === undefined) throw new Error('there is no list');
  const shards = await storeChanges(content, before, changes);
  await writeHead(folder, about, shards);
  await content.commit();
  const after = await listIn(folder);
  const sums = (list: typeof after) => new Set(list?.shards.map((shard) => shard.sha256));
  expect(sums(before).difference(sums(after)).size).toBeLessThanOrEqual(4);
  const found = [...(after?.files() ?? [])].map(([name]) => name);
  const expected = ['a.html', ...names.filter((name) => name !== 'pages/p2001.html'), 'zz.html'];
  expect(found).toEqual(
    expected.toSorted((one, other) => Buffer.compare(Buffer.from(`${one}\t`), Buffer.from(`${other}\t`))),
  );
  for (const name of expected) expect(after?.file(name)?.size).toBe(changes.has(name) ? 7 : name.length);
  expect(after?.has('pages/p2001.html')).toBe(false);
});

test('the list of a program before, with all lines in one file, is read as it is', async () => {
  const folder = newFolder();
  const lines = Buffer.from(
    ['/old\t{"to":"/x","permanent":true}\n', `a.css\t{"size":9,"sha256":"${sha256}"}\n`].join(''),
  );
  const { pieces: _, ...head } = about;
  const stored = { size: lines.length, sha256: sha256Of(lines) };
  await writeFile(join(folder, 'site.json'), JSON.stringify({ formatVersion: 4, ...head, lines: stored }));
  await writeFile(join(folder, 'site.list'), lines);
  const list = await listIn(folder);
  expect([list?.file('a.css')?.size, list?.redirect('/old')?.to, list?.isShared]).toEqual([9, '/x', false]);
  await writeFile(join(folder, 'site.list'), lines.subarray(1));
  expect(await listIn(folder)).toBeUndefined();
});

test('a name with a tab or a line break is refused', async () => {
  const folder = newFolder();
  for (const path of ['a\tb', 'a\nb'])
    await expect(written(folder, new Map([fileAt(path)]))).rejects.toThrow(BundleRefused);
});

async function storedList(name: string, count = 10) {
  const folder = newFolder();
  await written(folder, new Map(Array.from({ length: count }, (_, at) => fileAt(`${name}${at}`))));
  return { id: name, folder, content: join(folder, 'content') };
}

test('lists that were not used for the longest time are evicted, and read again once', async () => {
  const [a, b, c] = [await storedList('a'), await storedList('b'), await storedList('c')];
  const one = versionLists();
  await one.of(a);
  const { bytes } = one.counts();
  const lists = versionLists(bytes * 2.5);
  await lists.of(a);
  await lists.of(b);
  expect(lists.of(a)).not.toBeInstanceOf(Promise);
  await lists.of(c);
  expect(lists.of(a)).not.toBeInstanceOf(Promise);
  expect(lists.counts()).toEqual({ lists: 2, bytes: bytes * 2, reads: 3 });
  const reads = [lists.of(b), lists.of(b), lists.of(b)];
  expect((await Promise.all(reads.map(async (read) => read))).map((list) => list.has('b1'))).toEqual([
    true,
    true,
    true,
  ]);
  expect(lists.counts()).toEqual({ lists: 2, bytes: bytes * 2, reads: 4 });
});

test('a list above the limit is kept while it is the last used one', async () => {
  const [small, large] = [await storedList('a'), await storedList('b', 1_000)];
  const lists = versionLists(10_000);
  await lists.of(large);
  expect(lists.of(large)).not.toBeInstanceOf(Promise);
  await lists.of(small);
  expect(lists.counts().lists).toBe(1);
  lists.forget(small);
  expect(lists.counts()).toMatchObject({ lists: 0, bytes: 0 });
});

test('a list that is lost is damage, and is looked for again the next time', async () => {
  const lists = versionLists();
  const folder = newFolder();
  const version = { id: 'a', folder, content: join(folder, 'content') };
  await expect(lists.of(version)).rejects.toThrow(DamagedVersion);
  await written(folder, new Map([fileAt('a')]));
  expect((await lists.of(version)).has('a')).toBe(true);
});

test('lists of the same shards have them in memory once', async () => {
  const folder = newFolder();
  await written(folder, new Map(Array.from({ length: 3_000 }, (_, at) => fileAt(`p${at}`))));
  const lists = versionLists();
  const at = (id: string) => ({ id, folder, content: join(folder, 'content') });
  await lists.of(at('one'));
  const { bytes } = lists.counts();
  await lists.of(at('two'));
  expect(lists.counts().bytes).toBeLessThan(bytes * 1.1);
  lists.forget(at('one'));
  expect(lists.counts().bytes).toBe(bytes);
  lists.keep(at('two'), await lists.of(at('two')));
  expect(lists.counts().bytes).toBe(bytes);
  lists.forget(at('two'));
  expect(lists.counts().bytes).toBe(0);
});
