import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FolderInUse, lockFolder, openSecrets } from './data-folder.ts';

const newFolder = () => mkdtemp(join(tmpdir(), 'bindery-folder-'));

/** A process that holds the lock of a folder until it is killed. */
async function holderOf(folder: string) {
  const module = new URL('./data-folder.ts', import.meta.url).href;
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

test('a folder that a living process holds is refused by the number of that process, and free once it was killed', async () => {
  const folder = await newFolder();
  const holder = await holderOf(folder);
  await expect(lockFolder(folder)).rejects.toThrow(FolderInUse);
  await expect(lockFolder(folder)).rejects.toThrow(String(holder.pid));
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  await (await lockFolder(folder)).release();
});

test('of those that take a folder at the same moment one has it, until it gives it back', async () => {
  const folder = await newFolder();
  const taken = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)));
  const held = taken.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  expect(held).toHaveLength(1);
  await held[0]?.release();
  await (await lockFolder(folder)).release();
});

test('a lock that was left behind holds nothing, also when its number belongs to another process by now', async () => {
  const folder = await newFolder();
  await writeFile(join(folder, 'lock'), String(process.ppid));
  await (await lockFolder(folder)).release();
});

test('secrets stay the same from start to start, and each new one is made', async () => {
  const folder = await newFolder();
  const { auditKey, ...others } = await openSecrets(folder);
  await writeFile(join(folder, 'secrets.json'), JSON.stringify(others));
  const again = await openSecrets(folder);
  expect(again).toEqual({ ...others, auditKey: expect.any(String) });
  expect(again.auditKey).not.toBe(auditKey);
  expect(await openSecrets(folder)).toEqual(again);
  expect(await readdir(folder)).toEqual(['secrets.json']);
});

test('secrets that are there and cannot be read are not replaced by new ones', async () => {
  const folder = await newFolder();
  const file = join(folder, 'secrets.json');
  for (const damaged of ['', '{"hashKey"', '{"hashKey": 7}', 'null']) {
    await writeFile(file, damaged);
    await expect(openSecrets(folder)).rejects.toThrow(file);
    expect(await readFile(file, 'utf8')).toBe(damaged);
  }
  const elsewhere = await newFolder();
  // A link to itself stands for whatever keeps a file from being read.
  await symlink('secrets.json', join(elsewhere, 'secrets.json'));
  await expect(openSecrets(elsewhere)).rejects.toThrow('ELOOP');
  expect(await readdir(elsewhere)).toEqual(['secrets.json']);
});
