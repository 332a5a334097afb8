import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { BundleRefused } from './bundle-refused.ts';
import { contentType } from './hosted-types.ts';
import { type HostedFile, readVersionList, writeVersionList } from './version-list.ts';
import { DamagedVersion, versionLists } from './version-lists.ts';

const sha256 = 'ab'.repeat(32);
const about = {
  base: '',
  isAirGapped: false,
  token: '0'.repeat(16),
  manifest: { sha256, domain: 'acme', deployment: 'cloud' as const },
  wildcards: [],
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
  await writeVersionList(folder, about, files, redirects);
  const list = await readVersionList(folder);
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
      await writeVersionList(folder, about, new Map(names.map((each) => fileAt(each))), new Map());
      const list = await readVersionList(folder);
      for (const each of names) expect(list?.file(each)?.size).toBe(each.length);
      expect(list?.has(other)).toBe(names.includes(other));
    }),
    { numRuns: 40 },
  );
});

test('a list that is damaged in any place is no list', async () => {
  const folder = newFolder();
  await writeVersionList(folder, about, new Map([fileAt('a'), fileAt('b')]), new Map());
  const lines = join(folder, 'site.list');
  const bytes = await readFile(lines);
  for (const at of [0, 5, bytes.length - 1]) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    await writeFile(lines, changed);
    expect(await readVersionList(folder)).toBeUndefined();
  }
  await writeFile(lines, bytes.subarray(1));
  expect(await readVersionList(folder)).toBeUndefined();
  await writeFile(lines, bytes);
  expect((await readVersionList(folder))?.has('a')).toBe(true);
  await writeFile(join(folder, 'site.json'), '{}');
  expect(await readVersionList(folder)).toBeUndefined();
});

test('a name with a tab or a line break is refused', async () => {
  const folder = newFolder();
  for (const path of ['a\tb', 'a\nb'])
    await expect(writeVersionList(folder, about, new Map([fileAt(path)]), new Map())).rejects.toThrow(BundleRefused);
});

async function storedList(name: string, count = 10) {
  const folder = newFolder();
  await writeVersionList(
    folder,
    about,
    new Map(Array.from({ length: count }, (_, at) => fileAt(`${name}${at}`))),
    new Map(),
  );
  return { id: name, folder };
}

test('lists that were not used for the longest time are evicted, and read again once', async () => {
  const [a, b, c] = [await storedList('a'), await storedList('b'), await storedList('c')];
  const { bytes = 0 } = (await readVersionList(a.folder)) ?? {};
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
  const version = { id: 'a', folder: newFolder() };
  await expect(lists.of(version)).rejects.toThrow(DamagedVersion);
  await writeVersionList(version.folder, about, new Map([fileAt('a')]), new Map());
  expect((await lists.of(version)).has('a')).toBe(true);
});
