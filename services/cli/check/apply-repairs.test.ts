import { chmod, lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Repair } from '#shared/docs/findings/repair.ts';
import { newFolder } from '../../../test/support/new-folder.ts';
import { applyRepairs } from './apply-repairs.ts';

const repair = (file: string): Repair => ({ kind: 'address', file, line: 1, column: 1, from: '/a#b', to: '/a#c' });

test('a file is replaced as a whole and keeps its rights and line ends', async () => {
  const folder = newFolder();
  const file = join(folder, 'a.mdx');
  await writeFile(file, '[x](/a#b)\r\nmore\r\n');
  await chmod(file, 0o640);
  const { ino } = await lstat(file);
  expect(await applyRepairs(folder, [repair('a.mdx')])).toEqual(new Map([['a.mdx', 1]]));
  expect(await readFile(file, 'utf8')).toBe('[x](/a#c)\r\nmore\r\n');
  const after = await lstat(file);
  expect(after.mode & 0o777).toBe(0o640);
  expect(after.ino).not.toBe(ino);
  expect(await readdir(folder)).toEqual(['a.mdx']);
  expect(await applyRepairs(folder, [repair('a.mdx')])).toEqual(new Map());
});

test('links, files outside and files that are not UTF-8 stay', async () => {
  const outside = newFolder();
  const folder = newFolder();
  await writeFile(join(outside, 'b.mdx'), '[x](/a#b)');
  await symlink(join(outside, 'b.mdx'), join(folder, 'link.mdx'));
  await symlink(outside, join(folder, 'linked'));
  await mkdir(join(folder, 'sub'));
  await writeFile(join(folder, 'bytes.mdx'), Buffer.from([...Buffer.from('[x](/a#b)'), 0xff]));
  const files = ['link.mdx', 'linked/b.mdx', `../${outside.split('/').at(-1)}/b.mdx`, 'bytes.mdx', 'none.mdx', 'sub'];
  expect(await applyRepairs(folder, files.map(repair))).toEqual(new Map());
  expect(await readFile(join(outside, 'b.mdx'), 'utf8')).toBe('[x](/a#b)');
  expect((await lstat(join(folder, 'link.mdx'))).isSymbolicLink()).toBe(true);
});
