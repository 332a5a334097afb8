import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FolderInUse, lockFolder } from './data-folder.ts';

test('a folder that a living process holds is refused by the number of that process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-lock-'));
  await writeFile(join(folder, 'lock'), String(process.ppid));
  await expect(lockFolder(folder)).rejects.toThrow(FolderInUse);
  await expect(lockFolder(folder)).rejects.toThrow(String(process.ppid));
});

test('the lock of a process that is gone is taken over, and is free again after release', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-lock-'));
  // Larger than any process id that Linux or macOS gives out.
  await writeFile(join(folder, 'lock'), '99999999');
  const lock = await lockFolder(folder);
  await lock.release();
  await (await lockFolder(folder)).release();
});
