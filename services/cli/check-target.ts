import { open, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '#shared/runtime/failures.ts';

/**
 * Throws if a file that an option names cannot be written. Called before work that takes minutes; an existing file stays unchanged. `example`: a name
 * for a file in a folder.
 */
export async function checkTarget(flag: string, file: string, example: string): Promise<void> {
  if (file === '') throw new Error(`${flag} is empty. Name a file, such as ${example}.`);
  const folder = dirname(resolve(file));
  const isFolder = async (path: string) => (await stat(path).catch(() => undefined))?.isDirectory() === true;
  if (await isFolder(file))
    throw new Error(`${flag} ${file} is a folder. Name a file in it, such as ${join(file, example)}.`);
  if (!(await isFolder(folder)))
    throw new Error(`${flag} ${file}: there is no folder ${folder}. Make it, or name another file.`);
  // Permissions, full disks and read-only file systems show only when a file is created.
  const trial = `${file}.part`;
  try {
    await (await open(trial, 'w')).close();
    await rm(trial);
  } catch (error) {
    throw new Error(`${flag} ${file} cannot be written: ${messageOf(error)}. Name another file.`, { cause: error });
  }
}
