const maxPathBytes = 1024;
const maxNameBytes = 255;
const mostCharactersOnAverage = 320;

/**
 * Why a path must not be in an archive, as the end of a sentence that starts with the path; undefined when it may. A path is relative and
 * `/`-separated, and each name is plain text. The same rule holds for writing and reading, so every bundle can be read back.
 */
export function archivePathProblem(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.startsWith('/')) return 'is absolute';
  if (/^[A-Za-z]:/.test(path)) return 'starts with a drive letter';
  if (path.includes('\\')) return 'has a backslash';
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'has a control character';
  if (path.includes('\ufffd') || !path.isWellFormed()) return 'is not valid UTF-8';
  if (Buffer.byteLength(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`;
  for (const name of path.split('/')) {
    if (name === '..') return 'climbs out of its folder';
    if (name === '' || name === '.') return 'has an empty or "." part';
    if (Buffer.byteLength(name) > maxNameBytes) return `has a name longer than ${maxNameBytes} bytes`;
  }
  return undefined;
}

/**
 * Gives the same for two names that are one name on a file system without case or with Unicode normalization. Capital letters come between,
 * because some systems compare those: `ſ` is `S` there, and `ß` is `SS`.
 */
export const portableName = (path: string): string =>
  isAscii.test(path)
    ? path.toLowerCase()
    : path.normalize('NFD').replace(invisible, '').toUpperCase().toLowerCase().normalize('NFC');

/** Most names are, and need none of the rest. */
const isAscii = /^[\u0000-\u007f]*$/;

/** Characters that some systems leave out when they compare names. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** The order of files in a bundle. */
export const byPath = (a: { path: string }, b: { path: string }): number =>
  a.path < b.path ? -1 : Number(a.path > b.path);

/** Kinds of tar-stream, as the sentence calls them. */
const kindNames: Readonly<Record<string, string>> = {
  link: 'a hard link',
  symlink: 'a symbolic link',
  'character-device': 'a device',
  'block-device': 'a device',
  fifo: 'a pipe',
};

export type ArchiveEntryHeader = {
  name: string;
  /** null for types that tar-stream does not know. */
  type: string | null;
  size: number;
  /** What the PAX header said. */
  pax?: unknown;
};

/**
 * Checks entries in their order. `portable` also refuses different names of files with the same `portableName`: on some systems such an
 * archive unpacks to fewer files. Folders may differ so, because there they become one, and nothing is lost. `entries` bounds
 * what is remembered: so many folders, and names of 320 characters on average.
 */
export function archiveNames(options: { portable: boolean; entries: number }) {
  /** Spellings by `sameName`. */
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  const sameName = (path: string) => (options.portable ? portableName(path) : path);

  const mostCharacters = options.entries * mostCharactersOnAverage;
  let characters = 0;

  /** False if it was known, and then all folders above it are, too. */
  function rememberFolder(folder: string, path: string): boolean {
    const key = sameName(folder);
    const file = files.get(key);
    if (file !== undefined) throw new ArchiveRefused(`${quoted(file)} is a file, and a folder for ${quoted(path)}`);
    if (folders.has(key)) return false;
    if (folders.size >= options.entries) {
      throw new ArchiveRefused(`the archive has more than ${options.entries} folders`);
    }
    folders.set(key, folder);
    return true;
  }

  function rememberFile(path: string): void {
    const key = sameName(path);
    const earlier = files.get(key) ?? folders.get(key);
    if (earlier !== undefined) throw new ArchiveRefused(collision(path, earlier));
    files.set(key, path);
  }

  return {
    /** The path of a regular file, undefined for a folder. Throws `ArchiveRefused` for everything else. */
    fileOf(header: ArchiveEntryHeader): string | undefined {
      const { type, size } = header;
      const isFolder = type === 'directory';
      const name = quoted(header.name);
      if (type !== 'file' && !isFolder) {
        const kind = kindNames[type ?? ''] ?? 'an entry of an unknown kind';
        throw new ArchiveRefused(`${name} is ${kind}: an archive may have only regular files and folders`);
      }
      // tar programs disagree on whether bytes follow a folder's header: one could see entries that another does not.
      if (isFolder && size > 0) throw new ArchiveRefused(`${name} is a folder with bytes of its own`);
      if (Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse.'))) {
        throw new ArchiveRefused(`${name} is stored as a sparse file: pack it without --sparse`);
      }
      // `tar -C project .` writes "./" in front of every name.
      const path = header.name.replace(/^(\.\/)+/, '').replace(isFolder ? /\/+$/ : /$^/, '');
      if (isFolder && (path === '' || path === '.')) return undefined;
      const problem = archivePathProblem(path);
      if (problem !== undefined) throw new ArchiveRefused(`the name ${name} ${problem}: an archive may not have it`);
      characters += path.length;
      if (characters > mostCharacters) {
        throw new ArchiveRefused(`the names in the archive have more than ${mostCharacters} characters together`);
      }
      // From the deepest folder up: with many files in deep folders, each folder is looked at once.
      let slash = isFolder ? path.length : path.lastIndexOf('/');
      while (slash > 0 && rememberFolder(path.slice(0, slash), path)) slash = path.lastIndexOf('/', slash - 1);
      if (!isFolder) rememberFile(path);
      return isFolder ? undefined : path;
    },
  };
}

/** A name can have megabytes, and sentences about it are read by people. */
const mostQuoted = 300;
const quoted = (path: string) =>
  path.length <= mostQuoted
    ? JSON.stringify(path)
    : `${JSON.stringify(path.slice(0, mostQuoted))}… (${path.length} characters)`;

function collision(path: string, earlier: string): string {
  if (path === earlier) return `${quoted(path)} is in the archive more than once`;
  return `${quoted(path)} and ${quoted(earlier)} are the same name on some file systems`;
}

/** An archive that is not accepted. The message is for its sender and names the entry at fault, if there is one. */
export class ArchiveRefused extends Error {
  override name = 'ArchiveRefused';
}
