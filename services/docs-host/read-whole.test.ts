import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { readWhole } from './read-whole.ts';

test.each([0, 1, 10, 1_000_000])('a file of %i bytes is read', async (size) => {
  const file = join(newFolder(), 'x');
  const bytes = Buffer.alloc(size, 'abc');
  await writeFile(file, bytes);
  expect((await readWhole(file, size)).equals(bytes)).toBe(true);
});

test('a file that became shorter or longer gives at most the bytes that it has, and a lost one an error', async () => {
  const file = join(newFolder(), 'x');
  await writeFile(file, 'abcdef');
  expect([(await readWhole(file, 10)).toString(), (await readWhole(file, 3)).toString()]).toEqual(['abcdef', 'abc']);
  await expect(readWhole(`${file}y`, 3)).rejects.toThrow('ENOENT');
});
