import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isPacked } from '../folder-project.ts';

/** A document of a project: the folder of the project, and the path of the file in it, with slashes. */
export type ProjectPlace = { root: string; file: string };

/** The path of a `file:` address, whatever of it is percent-encoded; undefined for other addresses, and for hosts that this system cannot reach. */
export function pathOfUri(uri: string): string | undefined {
  if (!/^file:/i.test(uri)) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

export const uriOfPath = (path: string): string => pathToFileURL(path).href;

/**
 * Finds the project of a document: the nearest folder around it that has `docs.json` or `mint.json`. `isProject`: folders that are known as projects,
 * such as those of a `docs.json` that is not saved yet. Undefined for documents of no project, and for files that are never part of one.
 */
export function placeOfUri(
  uri: string,
  isProject: (folder: string) => boolean = () => false,
): ProjectPlace | undefined {
  const path = pathOfUri(uri);
  if (path === undefined) return undefined;
  for (let at = dirname(path); ; at = dirname(at)) {
    if (isProject(at) || ['docs.json', 'mint.json'].some((name) => existsSync(join(at, name)))) {
      const file = relative(at, path).split(sep).join('/');
      return isPacked(file) ? { root: at, file } : undefined;
    }
    if (at === dirname(at)) return undefined;
  }
}
