const maxPathBytes = 1024;
const maxNameBytes = 255;
const mostCharactersOnAverage = 320;

/**
 * Reason why a path is not allowed in an archive, as the end of a sentence that starts with the path; undefined if it is allowed. A path is relative
 * and `/`-separated, and each name is plain text. The same rule applies to writing and reading, so every bundle can be read back.
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
    if (name === '..') return 'points outside its folder';
    if (name === '' || name === '.') return 'has an empty or "." part';
    if (Buffer.byteLength(name) > maxNameBytes) return `has a name longer than ${maxNameBytes} bytes`;
  }
  return undefined;
}

/**
 * Form of a name for comparisons: two names have the same form if they are equal on a case-insensitive file system, or on one with Unicode
 * normalization. Upper case is an intermediate step, because some systems compare upper-case names: there `ſ` equals `S`, and `ß` equals `SS`.
 */
export const portableName = (path: string): string =>
  isAscii.test(path)
    ? path.toLowerCase()
    : path.normalize('NFD').replace(invisible, '').toUpperCase().toLowerCase().normalize('NFC');

/** Fast path: most names are ASCII. */
const isAscii = /^[\u0000-\u007f]*$/;

/** Characters that some systems ignore when they compare names. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** The order of files in a bundle. */
export const byPath = (a: { path: string }, b: { path: string }): number =>
  a.path < b.path ? -1 : Number(a.path > b.path);

/** Entry types of tar-stream, as named in error messages. */
const kindNames: Readonly<Record<string, string>> = {
  link: 'a hard link',
  symlink: 'a symbolic link',
  'character-device': 'a device',
  'block-device': 'a device',
  fifo: 'a pipe',
};

export type ArchiveEntryHeader = {
  name: string;
  /** Null for types that tar-stream does not know. */
  type: string | null;
  size: number;
  /** Keys of the PAX header. */
  pax?: unknown;
};

/**
 * Checks entries in their order. `portable` also refuses different file names with the same `portableName`, because some systems would unpack such an
 * archive to fewer files. Folder names may differ in this way: they become one folder there, and nothing is lost. `entries` bounds memory: the
 * archive may have at most that many folders, and names of at most 320 characters on average.
 */
export function archiveNames(options: { portable: boolean; entries: number }) {
  /** Spellings by `sameName`. */
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  const sameName = (path: string) => (options.portable ? portableName(path) : path);

  const mostCharacters = options.entries * mostCharactersOnAverage;
  let characters = 0;

  /** Returns false if the folder was known; then all its parents are known too. */
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
    /** Returns the path of a regular file; undefined for a folder. Throws `ArchiveRefused` for any other entry. */
    fileOf(header: ArchiveEntryHeader): string | undefined {
      const { type, size } = header;
      const isFolder = type === 'directory';
      const name = quoted(header.name);
      if (type !== 'file' && !isFolder) {
        const kind = kindNames[type ?? ''] ?? 'an entry of an unknown kind';
        throw new ArchiveRefused(`${name} is ${kind}: an archive may have only regular files and folders`);
      }
      // tar programs disagree on whether bytes follow a folder's header: one program could see entries that another does not.
      if (isFolder && size > 0) throw new ArchiveRefused(`${name} is a folder, but has content`);
      if (Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse.'))) {
        throw new ArchiveRefused(`${name} is stored as a sparse file: pack it without --sparse`);
      }
      // `tar -C project .` writes "./" before every name.
      const path = header.name.replace(/^(\.\/)+/, '').replace(isFolder ? /\/+$/ : /$^/, '');
      if (isFolder && (path === '' || path === '.')) return undefined;
      const problem = archivePathProblem(path);
      if (problem !== undefined) throw new ArchiveRefused(`the name ${name} ${problem}: an archive may not have it`);
      characters += path.length;
      if (characters > mostCharacters) {
        throw new ArchiveRefused(`the names in the archive have more than ${mostCharacters} characters together`);
      }
      // Goes up from the deepest folder, so that each folder is checked once even with many files in deep folders.
      let slash = isFolder ? path.length : path.lastIndexOf('/');
      while (slash > 0 && rememberFolder(path.slice(0, slash), path)) slash = path.lastIndexOf('/', slash - 1);
      if (!isFolder) rememberFile(path);
      return isFolder ? undefined : path;
    },
  };
}

/** Limits names in error messages, because a name can have megabytes. */
const mostQuoted = 300;
const quoted = (path: string) =>
  path.length <= mostQuoted
    ? JSON.stringify(path)
    : `${JSON.stringify(path.slice(0, mostQuoted))}… (${path.length} characters)`;

function collision(path: string, earlier: string): string {
  if (path === earlier) return `${quoted(path)} is in the archive more than once`;
  return `${quoted(path)} and ${quoted(earlier)} are the same name on some file systems`;
}

/** The archive is not accepted. The message is for its sender, and names the entry that caused it, if there is one. */
export class ArchiveRefused extends Error {
  override name = 'ArchiveRefused';
}
