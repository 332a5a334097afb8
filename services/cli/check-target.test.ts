import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { checkTarget } from './check-target.ts';

test('a file that cannot be written is refused before the work, and one that is there stays', async () => {
  const folder = newFolder();
  const refusal = (file: string) => checkTarget('--out', file, 'docs.tar.gz').catch((error: unknown) => String(error));
  expect(await refusal('')).toContain('--out is empty. Name a file, such as docs.tar.gz.');
  expect(await refusal(folder)).toContain(`is a folder. Name a file in it, such as ${join(folder, 'docs.tar.gz')}.`);
  expect(await refusal(join(folder, 'none', 'a'))).toContain(`there is no folder ${join(folder, 'none')}.`);
  const long = join(folder, 'x'.repeat(300));
  expect(await refusal(long)).toMatch(/cannot be written: ENAMETOOLONG.* Name another file\.$/);
  const file = join(folder, 'docs.tar.gz');
  await writeFile(file, 'before');
  expect(await refusal(file)).toBeUndefined();
  expect(await readFile(file, 'utf8')).toBe('before');
  expect(await readdir(folder)).toEqual(['docs.tar.gz']);
});
