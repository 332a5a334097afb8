import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRegularFile } from './read-regular-file.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bindery-read-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test.each(['', 'first'])('a file that grows while it is read ends where it ended before: %j', async (first) => {
  const file = join(folder, 'growing.txt');
  await writeFile(file, first);
  const { size, body } = await readRegularFile(file, 1_000);
  await appendFile(file, ' and more');
  expect([size, await text(body)]).toEqual([first.length, first]);
});

test('a folder and a file that is too large are refused', async () => {
  const file = join(folder, 'large.txt');
  await writeFile(file, 'large');
  await expect(readRegularFile(folder, 1_000)).rejects.toThrow(/is not a file/);
  await expect(readRegularFile(file, 4)).rejects.toThrow(/has 5 bytes, and at most 4 are allowed/);
});
