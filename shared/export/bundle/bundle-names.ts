import { archivePathProblem, portableName } from './archive-names.ts';

/**
 * Maximum length of a path below the top folder, which has up to 64 more bytes. The systems with the shortest limit allow 1,024 including the folder
 * to which a bundle is unpacked.
 */
const maxPathBytes = 512;
/** Names that Windows reserves for devices, whatever follows the first dot. */
const deviceName = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])[ ]*(?:\..*)?$/i;

/**
 * Fast path: most paths are words with single dots and slashes between them, and need no further check unless one of them may be the name of a
 * device.
 */
const plainPath = /^[\w-]+(?:[./][\w-]+)*$/;
const maybeDevice = /(?:^|\/)(?:con|prn|aux|nul|com\d|lpt\d)(?:[./]|$)/i;
const maxPlainLength = 255;
const isPlain = (path: string): boolean =>
  path.length <= maxPlainLength && plainPath.test(path) && !maybeDevice.test(path);

/**
 * Reason why a file of a bundle must not have this name, as the end of a sentence that starts with the path; undefined if every system can have such
 * a file. `path` is below the top folder.
 */
export function bundlePathProblem(path: string): string | undefined {
  if (isPlain(path)) return undefined;
  const problem = archivePathProblem(path);
  if (problem !== undefined) return problem;
  if (Buffer.byteLength(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`;
  for (const name of path.split('/')) {
    if (deviceName.test(name)) return `has the name "${name}", which Windows reserves`;
    if (/[. ]$/.test(name)) return 'has a name that ends with a dot or a space, which Windows drops';
    const character = /[<>:"|?*]/.exec(name)?.[0];
    if (character !== undefined) return `has the character ${character}, which Windows does not allow`;
  }
  return undefined;
}

/** Folder of our own files. */
const ownFolder = '_bindery';
/** Pages work at any address only if this file is the one that Bindery generates. */
export const notFoundFile = '404.html';

/**
 * Assigns the names of one bundle, so that no two files are equal on any system: not by case, not by Unicode form, and not as a file and a folder.
 * The first request for a name gets it; `404.html` and `_bindery/` are reserved.
 */
export function bundleNames() {
  const files = new Map<string, string>([[portableName(notFoundFile), notFoundFile]]);
  /** Folders by portable name, each with one file in it. */
  const folders = new Map<string, string>();

  function conflict(path: string, key: string): string | undefined {
    const other = files.get(key);
    if (other === notFoundFile) return 'is the page that hosts show for unknown addresses, and Bindery generates it';
    if (other !== undefined)
      return other === path ? 'is taken' : `has the same name as ${JSON.stringify(other)} on many systems`;
    if (key === ownFolder || key.startsWith(`${ownFolder}/`))
      return `is in ${ownFolder}/, which is reserved for the files that pages need`;
    const inside = folders.get(key);
    if (inside !== undefined) return `has the name of the folder of ${JSON.stringify(inside)}`;
    // If a folder already has a file in it, none of its parents is a file.
    if (folders.has(key.slice(0, Math.max(0, key.lastIndexOf('/'))))) return undefined;
    const parent = parentsOf(key).find((folder) => files.has(folder));
    return parent === undefined ? undefined : `is in ${JSON.stringify(files.get(parent))}, which is a file`;
  }

  return {
    /**
     * Takes all of the names or none. Returns the first name that cannot be taken and the reason, as the end of a sentence that starts with the name.
     */
    take(...paths: string[]): { path: string; problem: string } | undefined {
      const named = paths.map((path) => ({ path, key: portableName(path) }));
      for (const { path, key } of named) {
        const problem = bundlePathProblem(path) ?? conflict(path, key);
        if (problem !== undefined) return { path, problem };
      }
      for (const { path, key } of named) {
        files.set(key, path);
        // Goes up from the deepest folder. If a folder is known, so are all folders above it.
        for (let slash = key.lastIndexOf('/'); slash > 0; slash = key.lastIndexOf('/', slash - 1)) {
          const folder = key.slice(0, slash);
          if (folders.has(folder)) break;
          folders.set(folder, path);
        }
      }
      return undefined;
    },
  };
}

function parentsOf(key: string): string[] {
  const parents: string[] = [];
  for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) parents.push(key.slice(0, slash));
  return parents;
}
