import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithSmallDisk, mountSmallDisk } from '../../test/support/small-disk.ts';
import { FolderInUse, lockFolder } from './lock-folder.ts';

const newFolder = () => mkdtemp(join(tmpdir(), 'bindery-folder-'));

/** A process that holds the lock of a folder until it is killed. */
async function holderOf(folder: string) {
  const module = new URL('./lock-folder.ts', import.meta.url).href;
  const script = `
    const { lockFolder } = await import(${JSON.stringify(module)});
    globalThis.kept = await lockFolder(${JSON.stringify(folder)});
    process.send('held');
    setInterval(() => {}, 1_000);
  `;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await once(holder, 'message');
  return holder;
}

test('a folder that a living process holds is refused with the number of that process, and free once it was killed', async () => {
  const folder = await newFolder();
  const holder = await holderOf(folder);
  await expect(lockFolder(folder)).rejects.toThrow(FolderInUse);
  await expect(lockFolder(folder)).rejects.toThrow(String(holder.pid));
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  await (await lockFolder(folder)).release();
});

test('one of several processes that take a folder at the same moment has it, until it gives it back', async () => {
  const folder = await newFolder();
  const taken = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)));
  const held = taken.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  expect(held).toHaveLength(1);
  await held[0]?.release();
  await (await lockFolder(folder)).release();
});

test('a leftover lock holds nothing, also when its process number belongs to another process by now', async () => {
  const folder = await newFolder();
  await writeFile(join(folder, 'lock'), String(process.ppid));
  await (await lockFolder(folder)).release();
});

describeWithSmallDisk('a folder on a full disk', () => {
  test('is locked as any other', async () => {
    const disk = mountSmallDisk(1);
    try {
      disk.fill();
      const lock = await lockFolder(disk.folder);
      await expect(lockFolder(disk.folder)).rejects.toThrow(FolderInUse);
      await lock.release();
      await (await lockFolder(disk.folder)).release();
    } finally {
      disk.remove();
    }
  });
});
