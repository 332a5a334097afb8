import { readdir, readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { repositoryOf } from '../folder-project.ts';

/** A project of another documentation generator, read in place. Paths are relative to its folder, with slashes. */
export type SourceProject = {
  paths: readonly string[];
  /**
   * Adds the files of a folder beside the project's, such as `../docs`: many repositories have the pages there. False if there is no such folder in the
   * repository, whose other files are not the project's.
   */
  include(path: string): Promise<boolean>;
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
  let paths: string[] = [];
  const list = async (under: string): Promise<void> => {
    for (const entry of await readdir(join(folder, under), { withFileTypes: true })) {
      const path = under === '' ? entry.name : `${under}/${entry.name}`;
      if (entry.isDirectory() && !neverRead.has(entry.name)) await list(path);
      else if (entry.isFile()) paths.push(path);
    }
  };
  await list('');
  paths.sort();
  let known = new Set(paths);
  return {
    get paths() {
      return paths;
    },
    async include(path) {
      const place = await realpath(join(folder, path)).catch(() => undefined);
      const repository = await repositoryOf(folder);
      if (place === undefined || !`${place}${sep}`.startsWith(`${repository}${sep}`) || place === repository)
        return false;
      await list(path);
      paths = [...new Set(paths)].sort();
      known = new Set(paths);
      return true;
    },
    has: (path) => known.has(path),
    text: async (path) => (await readFile(join(folder, path), 'utf8')).replaceAll('\r\n', '\n'),
    bytes: (path) => readFile(join(folder, path)),
  };
}

/** The project is not what the caller named, or cannot be read as such. */
export class NotSuchAProject extends Error {
  override name = 'NotSuchAProject';
}
