import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { prepareVersion, type SiteMaking } from './prepare-version.ts';
import { readPreparedSite } from './prepared-site.ts';

const page = (text: string) =>
  `<!doctype html>\n<html lang="en">\n<head></head>\n<body><p>${text}</p>${'word '.repeat(300)}<img src="./logo.svg" alt=""></body>\n</html>\n`;
const own = {
  'index.html': page('start'),
  'guides/x.html': page('x'),
  'guides/index.html': page('guides'),
  'guides/x.md': '# X\n',
  'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
  '_bindery/site.js': `window.a = 1;${' '.repeat(600)}\n`,
  '_bindery/theme.css': 'body { color: red }\n'.repeat(80),
};

type Made = { folder: string; bytes: Record<string, string> };

/** Prepares a bundle with these changes of `own`, with an earlier version or without one. */
async function prepared(
  changes: Record<string, string>,
  earlier?: Made,
  making: SiteMaking = { base: '' },
): Promise<Made> {
  const folder = newFolder();
  const file = join(newFolder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one', { ...own, ...changes }));
  await prepareVersion({ place: { kind: 'archive', file }, folder, making, maxBytes: 1e8, earlier: earlier?.folder });
  const bytes: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) bytes[path.slice(folder.length + 1)] = await readFile(path, 'base64');
  }
  return { folder, bytes };
}

const inode = async ({ folder }: Made, path: string) => (await stat(join(folder, path))).ino;
const isLinked = async (one: Made, other: Made, path: string) =>
  (await inode(one, path)) === (await inode(other, path));

test.each([
  ['one page changed', { 'guides/x.html': page('other') }, { base: '' }],
  ['nothing changed', {}, { base: '' }],
  ['a page is new', { 'guides/y.html': page('y') }, { base: '' }],
  ['a picture changed', { 'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>' }, { base: '' }],
  ['the path of the site changed', {}, { base: '/docs' }],
  ['it becomes air-gapped', {}, { base: '', deployment: 'air-gapped' as const }],
  ['it becomes a preview', {}, { base: '', preview: { label: 'x', date: '2026-11-28' } }],
])('with an earlier version, a version where %s has the same bytes as without it', async (_what, changes, making) => {
  const earlier = await prepared({});
  const next = await prepared(changes, earlier, making);
  expect(next.bytes).toEqual((await prepared(changes, undefined, making)).bytes);
  expect(await readPreparedSite(next.folder)).toBeDefined();
});

test('files that are the same are linked, and those that changed are written', async () => {
  const earlier = await prepared({});
  const next = await prepared({ 'guides/x.html': page('other') }, earlier);
  for (const path of [
    'files/index.html',
    'pages/index.html',
    'br/index.html',
    'gzip/_bindery/theme.css',
    'files/logo.svg',
  ])
    expect([path, await isLinked(earlier, next, path)]).toEqual([path, true]);
  for (const path of ['files/guides/x.html', 'pages/guides/x.html', 'br/guides/x.html', 'site.list'])
    expect([path, await isLinked(earlier, next, path)]).toEqual([path, false]);
  await rm(earlier.folder, { recursive: true });
  expect(await readPreparedSite(next.folder)).toBeDefined();
});

test('pages are made again when a file that displays them changed, because they name its bytes', async () => {
  const earlier = await prepared({});
  const next = await prepared({ '_bindery/theme.css': 'body { color: blue }\n'.repeat(80) }, earlier);
  expect(await isLinked(earlier, next, 'files/index.html')).toBe(true);
  expect(await isLinked(earlier, next, 'pages/index.html')).toBe(false);
  expect(await isLinked(earlier, next, 'gzip/_bindery/site.js')).toBe(true);
});

test('an earlier version that lost a file, its list or its manifest is used as far as it can be', async () => {
  for (const lost of ['files/index.html', 'br/index.html', 'site.list', 'files/_bindery/manifest.json']) {
    const earlier = await prepared({});
    await rm(join(earlier.folder, lost));
    const next = await prepared({}, earlier);
    expect([lost, next.bytes]).toEqual([lost, (await prepared({})).bytes]);
  }
});
