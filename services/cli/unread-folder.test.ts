import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { unreadFolder } from './unread-folder.ts';

let project = '';
let cache = '';
beforeEach(async () => {
  project = join(newFolder(), 'docs');
  cache = join(newFolder(), 'hashes');
  await mkdir(project);
  await writeFile(join(project, 'docs.json'), '{}');
  await writeFile(join(project, 'page.mdx'), '---\nopenapi: GET /x\n---\n');
});

const later = Date.now() + 3_600_000;
/** Opens the project as a command does an hour after its files were written, and asks for all hashes. */
async function hashes(now = later): Promise<Record<string, string>> {
  const folder = await unreadFolder(project, { cache, now: () => now });
  const found = folder.files.map(({ path }) => [path, folder.entryOf(path).sha256]);
  await folder.remember();
  return Object.fromEntries(found) as Record<string, string>;
}
/** Replaces all hashes in the record by another one, which shows where the record is used. */
async function forge(): Promise<void> {
  const [name = ''] = await readdir(cache);
  const text = await readFile(join(cache, name), 'utf8');
  await writeFile(join(cache, name), text.replaceAll(/[0-9a-f]{64}/g, 'f'.repeat(64)));
}
const forged = 'f'.repeat(64);

test('files in the state in which an earlier command read them are not read again', async () => {
  expect((await hashes())['docs.json']).toBe(sha256Of('{}'));
  await forge();
  expect(await hashes()).toEqual({ 'docs.json': forged, 'page.mdx': forged });
});

test('a changed file is read again, also with its old size and time of modification', async () => {
  const then = new Date(2020, 1, 1);
  await utimes(join(project, 'docs.json'), then, then);
  await hashes();
  await forge();
  await writeFile(join(project, 'docs.json'), '[]');
  await utimes(join(project, 'docs.json'), then, then);
  expect(await hashes()).toEqual({ 'docs.json': sha256Of('[]'), 'page.mdx': forged });
});

test('a file that had just been written when it was read is read again', async () => {
  await hashes(Date.now());
  await forge();
  expect((await hashes())['docs.json']).toBe(sha256Of('{}'));
});

test('a damaged record is as good as none', async () => {
  await hashes();
  const [name = ''] = await readdir(cache);
  const text = await readFile(join(cache, name), 'utf8');
  const damages = ['{"version":1}', text.replaceAll(/[0-9a-f]{64}/g, 'x'), text.replaceAll(' ', '')];
  for (const damage of damages) {
    await writeFile(join(cache, name), damage);
    expect((await hashes())['docs.json']).toBe(sha256Of('{}'));
  }
});

test('it is known which pages may name an API description', async () => {
  await hashes();
  const folder = await unreadFolder(project, { cache, now: () => later });
  expect(folder.mayName?.('page.mdx')).toBe(true);
  expect(folder.mayName?.('docs.json')).toBe(false);
});

test('a record that no command used for sixty days is removed, and so are those beyond a hundred', async () => {
  await hashes();
  const [own = ''] = await readdir(cache);
  const daysAgo = async (name: string, days: number) => {
    const then = new Date(later - days * 86_400_000);
    if (name !== own) await writeFile(join(cache, name), '{}');
    await utimes(join(cache, name), then, then);
  };
  await daysAgo('old.json', 61);
  await daysAgo('recent.json', 59);
  // This use makes its own record the newest.
  await daysAgo(own, 70);
  await hashes();
  expect((await readdir(cache)).toSorted()).toEqual([own, 'recent.json'].toSorted());
  for (let at = 0; at < 110; at += 1) await daysAgo(`other-${at}.json`, 1 + at / 1_000);
  await hashes();
  const left = await readdir(cache);
  expect([left.length, left.includes(own), left.includes('recent.json')]).toEqual([100, true, false]);
  expect(left).not.toContain('other-109.json');
});

test('a file whose name has a line break does not stand for another file', async () => {
  const broken = 'a\nb.mdx';
  await writeFile(join(project, broken), '# A');
  await hashes();
  await forge();
  expect(await hashes()).toEqual({ 'docs.json': forged, 'page.mdx': forged, [broken]: sha256Of('# A') });
});
