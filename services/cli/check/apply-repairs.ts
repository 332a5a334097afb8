import { constants } from 'node:fs';
import { lstat, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { type Repair, repaired } from '#shared/docs/findings/repair.ts';

/** The number of repairs that were made in each file. */
export type AppliedRepairs = ReadonlyMap<string, number>;

/**
 * Repairs files of a project. A file is replaced as a whole, so that a reader never sees a part of it. Files that are links or outside of the folder,
 * and files that are not UTF-8, stay as they are. Rejects when a file cannot be written.
 */
export async function applyRepairs(folder: string, repairs: readonly Repair[]): Promise<AppliedRepairs> {
  const applied = new Map<string, number>();
  for (const [file, ofFile] of Map.groupBy(repairs, (repair) => repair.file)) {
    const path = join(folder, file);
    if (!(await isOwnFile(folder, path))) continue;
    const bytes = await readFile(path);
    const text = bytes.toString();
    if (!Buffer.from(text).equals(bytes)) continue;
    const { text: next, made } = repaired(text, ofFile);
    if (made.length === 0 || next === text) continue;
    await replaceFile(path, next);
    applied.set(file, made.length);
  }
  return applied;
}

/** True for a file of the folder that no link leads to. */
async function isOwnFile(folder: string, path: string): Promise<boolean> {
  const state = await lstat(path).catch(() => undefined);
  if (state?.isFile() !== true) return false;
  const [own, parent] = await Promise.all([realpath(folder), realpath(dirname(path))]);
  const below = relative(own, parent);
  return below.split(sep)[0] !== '..' && parent === join(own, relative(folder, dirname(path)));
}

async function replaceFile(path: string, text: string): Promise<void> {
  const { mode } = await lstat(path);
  const part = join(dirname(path), `.bindery-fix-${process.pid}.part`);
  // The flags refuse a file that is there already, and a link in its place.
  const handle = await open(part, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode & 0o777);
  try {
    await handle.writeFile(text);
    await handle.chmod(mode & 0o777);
    await handle.sync();
    await handle.close();
    await rename(part, path);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  }
}
