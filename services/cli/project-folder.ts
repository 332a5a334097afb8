import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders that never belong to a docs project; what else is ignored decides the reader by `.mintignore`. */
const neverPacked = new Set(['.git', 'node_modules', '.bindery', '.DS_Store', '.idea', '.vscode']);

/** A folder that is no docs project's; the message names it. */
export class NotAProject extends Error {
  override name = 'NotAProject';
}

/** Paths of all files of a docs project's folder, sorted. Throws `NotAProject` when it has no `docs.json` or `mint.json`. */
export async function projectFilesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder).catch(() => undefined);
  if (entries === undefined) throw new NotAProject(`${folder} is not a folder that can be read.`);
  if (!entries.includes('docs.json') && !entries.includes('mint.json')) {
    throw new NotAProject(`${folder} has no docs.json (or mint.json): name the folder that has it.`);
  }
  return await listFiles(folder, '');
}

async function listFiles(folder: string, prefix: string): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    if (neverPacked.has(entry.name)) continue;
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    // A link to a file counts as the file; a link to a folder is left out, it may lead round in a circle.
    const isFile =
      entry.isFile() ||
      (entry.isSymbolicLink() && (await stat(join(folder, path)).catch(() => undefined))?.isFile() === true);
    if (entry.isDirectory()) paths.push(...(await listFiles(folder, path)));
    else if (isFile) paths.push(path);
  }
  return paths.sort();
}
