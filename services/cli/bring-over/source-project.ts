import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A project of another documentation generator, read in place. Paths are relative to its folder, with slashes. */
export type SourceProject = {
  paths: readonly string[];
  has(path: string): boolean;
  /** Text of a file. Rejects if it cannot be read. */
  text(path: string): Promise<string>;
  bytes(path: string): Promise<Uint8Array>;
};

/** A part of a project that was not brought over. `what` is a sentence without its full stop. */
export type Left = { file: string; line: number; what: string };

/** Folders with installed packages and with the output of builds. */
const neverRead = new Set([
  'node_modules',
  '.git',
  '.docusaurus',
  '.astro',
  'dist',
  'build',
  'site',
  '.cache',
  'cache',
]);

/** Reads the names of a project's files. Links are not followed, because they may lead out of the project. Rejects if there is no such folder. */
export async function sourceProject(folder: string): Promise<SourceProject> {
  const paths: string[] = [];
  const list = async (under: string): Promise<void> => {
    for (const entry of await readdir(join(folder, under), { withFileTypes: true })) {
      const path = under === '' ? entry.name : `${under}/${entry.name}`;
      if (entry.isDirectory() && !neverRead.has(entry.name)) await list(path);
      else if (entry.isFile()) paths.push(path);
    }
  };
  await list('');
  const known = new Set(paths);
  return {
    paths: paths.sort(),
    has: (path) => known.has(path),
    text: async (path) => (await readFile(join(folder, path), 'utf8')).replaceAll('\r\n', '\n'),
    bytes: (path) => readFile(join(folder, path)),
  };
}

/** The project is not what the caller named, or cannot be read as such. */
export class NotSuchAProject extends Error {
  override name = 'NotSuchAProject';
}
