import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { contentFile } from './content-folder.ts';
import { prepareVersion, type SiteMaking } from './prepare-version.ts';
import { readPreparedSite } from './prepared-site.ts';
import { readVersionList, storedIn } from './version-list.ts';

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

/** A version, its content, and the names and bytes of everything in its list. */
type Made = { folder: string; content: string; bytes: Record<string, string> };

/** Prepares a bundle with these changes of `own`, in the content of an earlier version or in a new one. */
async function prepared(
  changes: Record<string, string>,
  earlier?: Made,
  making: SiteMaking = { base: '' },
): Promise<Made> {
  const folder = newFolder();
  const content = earlier?.content ?? newFolder();
  const file = join(newFolder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one', { ...own, ...changes }));
  const place = { kind: 'archive', file } as const;
  await prepareVersion({ place, folder, content, making, maxBytes: 1e8, earlier: earlier?.folder });
  return { folder, content, bytes: await bytesIn(folder, content) };
}

async function bytesIn(folder: string, content: string): Promise<Record<string, string>> {
  const lines = await readFile(join(folder, 'site.list'));
  const named = storedIn(lines).map(async ({ sha256 }) => [
    sha256,
    (await readFile(contentFile(content, sha256))).toString('base64'),
  ]);
  return { ...(Object.fromEntries(await Promise.all(named)) as Record<string, string>), list: lines.toString() };
}

/** The time at which each file of the content was written, which nothing changes later. */
async function writtenAt({ content }: Made): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const entry of await readdir(content, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) found.set(entry.name, (await stat(join(entry.parentPath, entry.name))).ino);
  return found;
}

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
  expect(await readPreparedSite(next.folder, next.content)).toBeDefined();
});

test('files that are the same stay as they are, and those that changed are added', async () => {
  const earlier = await prepared({});
  const before = await writtenAt(earlier);
  const next = await prepared({ 'guides/x.html': page('other') }, earlier);
  const after = await writtenAt(next);
  for (const [name, inode] of before) expect(after.get(name)).toBe(inode);
  // The page as it was and as it is served, both copies of it, and the manifest with its copies.
  expect(after.size - before.size).toBe(7);
});

test('pages are made again when a file that displays them changed, because they name its bytes', async () => {
  const earlier = await prepared({});
  const next = await prepared({ '_bindery/theme.css': 'body { color: blue }\n'.repeat(80) }, earlier);
  const [one, other] = await Promise.all([earlier, next].map(({ folder }) => readVersionList(folder)));
  const page = (list: typeof one) => list?.file('index.html');
  expect(page(one)?.source).toEqual(page(other)?.source);
  expect(page(one)?.sha256).not.toBe(page(other)?.sha256);
  expect(one?.file('_bindery/site.js')).toEqual(other?.file('_bindery/site.js'));
});

test('an earlier version that lost a file or its list is used as far as it can be', async () => {
  const lost = ['files', 'br', 'list', 'head'] as const;
  for (const what of lost) {
    const earlier = await prepared({});
    const file = (await readVersionList(earlier.folder))?.file('index.html');
    const names = {
      files: contentFile(earlier.content, file?.source?.sha256 ?? ''),
      br: contentFile(earlier.content, file?.br?.sha256 ?? ''),
      list: join(earlier.folder, 'site.list'),
      head: join(earlier.folder, 'site.json'),
    };
    await rm(names[what]);
    const next = await prepared({}, earlier);
    expect([what, next.bytes]).toEqual([what, (await prepared({})).bytes]);
  }
});
