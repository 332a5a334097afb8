import { hash } from 'node:crypto';
import { type Stats, readFileSync, statSync } from 'node:fs';
import { lstat, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isSource, isTooLarge, type ProjectFile, type ProjectFiles } from '#shared/docs/project/project-files.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { filesBelow, isPacked, projectFilesIn, whyForbidden } from '../folder-project.ts';

/** Files that changed since the last look: those that were added or have other bytes, and those that are gone, as they were. */
export type FilesChange = { changed: ProjectFile[]; gone: ProjectFile[] };

/** The files of a docs project in a folder, kept up to date. */
export type DevFiles = ProjectFiles & {
  /** The bytes of small pages and snippets as they were read at the start; empty from the second call on. */
  takeRead(): ReadFiles;
  /** Checks these files and folders again. Names are relative to the folder of the project. */
  look(paths: Iterable<string>): Promise<FilesChange>;
  /** Replaces the files that are not in the folder. */
  bring(files: ReadonlyMap<string, Uint8Array>): FilesChange;
  /** Checks all files, and reads those with another size, time or identity. For file systems without events. */
  lookAtAll(): Promise<FilesChange>;
};

/** Bytes of several files, one after the other. */
export type ReadFiles = { paths: string[]; lengths: number[]; bytes: Uint8Array };

/** The last look at a file. A file with the same facts is not read again. */
type Seen = ProjectFile & { facts: string };

/** Limits of the bytes that are kept from the start until the project is read: of one file, and of all. */
const mostKeptOfFile = 256 * 1024;
const mostKept = 64 * 1024 * 1024;
const readsAtOnce = 16;
/** Time after which a file that became empty is read again: many programs empty a file before they write it. */
const emptyForMs = 25;

/**
 * Opens the files of a project. `first`: files that are not in the folder, such as fetched API descriptions. `onRefused` gets a sentence about each link
 * that leads out of the repository and was made later; it is left out. Throws as `projectFilesIn`.
 */
export async function devFiles(
  folder: string,
  first: ReadonlyMap<string, Uint8Array> = new Map(),
  onRefused: (why: string) => void = () => undefined,
): Promise<DevFiles> {
  let extra = first;
  /** The links that were refused, with the sentences about them. */
  const refused = new Map<string, string>();
  const refuse = (path: string, why: string): void => {
    if (refused.get(path) !== why) onRefused(why);
    refused.set(path, why);
  };
  const seen = new Map<string, Seen>();
  const kept = new Map<string, Uint8Array>();
  let keptBytes = 0;
  for (const path of await projectFilesIn(folder)) {
    const found = seeNow(folder, path);
    if (found === undefined) continue;
    seen.set(path, found.file);
    const { length } = found.bytes;
    if (!isSource(path) || length < found.file.sizeBytes || length > mostKeptOfFile || keptBytes + length > mostKept)
      continue;
    kept.set(path, found.bytes);
    keptBytes += length;
  }
  for (const [path, bytes] of extra) seen.set(path, { path, ...digestOf(bytes), facts: 'extra' });
  const isExtra = (path: string): boolean => extra.has(path);

  async function lookAt(path: string): Promise<Seen | 'gone' | 'same'> {
    const state = await stat(join(folder, path)).catch(() => undefined);
    if (state === undefined) return 'gone';
    const facts = factsOf(state);
    const before = seen.get(path);
    if (before?.facts === facts) return 'same';
    try {
      const why = await whyForbidden(folder, path);
      if (why !== undefined) {
        refuse(path, why);
        return 'gone';
      }
      refused.delete(path);
      const large = largeFile(path, state);
      if (large !== undefined) return large;
      let bytes = await readFile(join(folder, path));
      if (bytes.length === 0 && (before?.sizeBytes ?? 0) > 0) {
        await new Promise((resolve) => setTimeout(resolve, emptyForMs));
        bytes = await readFile(join(folder, path));
      }
      return { path, ...digestOf(bytes), facts };
    } catch (error) {
      // The file vanished, or is a folder now. A file that may not be read stays in the list, and its reader reports it.
      if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(String(errorCode(error)))) return 'gone';
      return { path, sha256: hash('sha256', `unreadable ${facts}`), sizeBytes: 0, facts };
    }
  }

  async function lookAtFiles(paths: readonly string[]): Promise<FilesChange> {
    const change: FilesChange = { changed: [], gone: [] };
    const found = await inParallel(paths, readsAtOnce, async (path) => ({ path, file: await lookAt(path) }));
    for (const { path, file } of found) {
      if (file === 'gone') {
        const before = seen.get(path);
        if (before !== undefined) change.gone.push(entryOf(before));
        seen.delete(path);
      } else if (file !== 'same') {
        const before = seen.get(path);
        seen.set(path, file);
        if (before?.sha256 !== file.sha256) change.changed.push(entryOf(file));
      }
    }
    return change;
  }

  /** Files at or below a name that an event named: the file, the files of the folder, and known files that may be gone. */
  async function filesAt(path: string): Promise<string[]> {
    const known = [...seen.keys()].filter((file) => file.startsWith(`${path}/`) && !isExtra(file));
    const kind = await lstat(join(folder, path)).catch(() => undefined);
    if (kind?.isDirectory() === true) return [...known, ...(await filesBelow(folder, path, refuse).catch(() => []))];
    return [path, ...known];
  }

  return {
    get files() {
      return [...seen.values()].map(entryOf);
    },
    takeRead() {
      const all = [...kept];
      kept.clear();
      const bytes = Buffer.concat(all.map(([, part]) => part));
      return { paths: all.map(([path]) => path), lengths: all.map(([, { length }]) => length), bytes };
    },
    async read(path, maxBytes) {
      const bytes = extra.get(path) ?? (await readFile(join(folder, path)));
      return bytes.subarray(0, maxBytes);
    },
    async look(paths) {
      const all = new Set<string>();
      for (const path of paths)
        if (isPacked(path) && !isExtra(path)) for (const file of await filesAt(path)) all.add(file);
      return lookAtFiles([...all]);
    },
    bring(files) {
      const change: FilesChange = { changed: [], gone: [] };
      for (const path of extra.keys()) {
        const before = files.has(path) ? undefined : seen.get(path);
        if (before === undefined) continue;
        change.gone.push(entryOf(before));
        seen.delete(path);
      }
      for (const [path, bytes] of files) {
        const file = { path, ...digestOf(bytes), facts: 'extra' };
        if (seen.get(path)?.sha256 !== file.sha256) change.changed.push(entryOf(file));
        seen.set(path, file);
      }
      extra = files;
      return change;
    },
    async lookAtAll() {
      const now = await projectFilesIn(folder, undefined, refuse).catch(() => undefined);
      if (now === undefined) return { changed: [], gone: [] };
      const known = [...seen.keys()].filter((path) => !isExtra(path));
      return lookAtFiles([...new Set([...known, ...now])]);
    },
  };

  function entryOf({ path, sha256, sizeBytes }: Seen): ProjectFile {
    return { path, sha256, sizeBytes };
  }
}

/**
 * Reads a file for its digest at the start, when there is nothing else to do: one system call after the other takes half the time of a queue of reads.
 * Undefined if it vanished or cannot be read.
 */
function seeNow(folder: string, path: string): { file: Seen; bytes: Uint8Array } | undefined {
  try {
    const state = statSync(join(folder, path));
    const large = largeFile(path, state);
    if (large !== undefined) return { file: large, bytes: new Uint8Array() };
    const facts = factsOf(state);
    const bytes = readFileSync(join(folder, path));
    return { file: { path, ...digestOf(bytes), facts }, bytes };
  } catch {
    return undefined;
  }
}

/** A file that no site has because of its size. It is not read: its state stands for its bytes. */
function largeFile(path: string, state: Stats): Seen | undefined {
  const [facts, sizeBytes] = [factsOf(state), state.size];
  return isTooLarge({ sizeBytes }) ? { path, sha256: hash('sha256', `large ${facts}`), sizeBytes, facts } : undefined;
}

const digestOf = (bytes: Uint8Array): Pick<ProjectFile, 'sha256' | 'sizeBytes'> => ({
  sha256: hash('sha256', bytes),
  sizeBytes: bytes.length,
});

const factsOf = ({ mtimeMs, size, ino, ctimeMs }: Stats): string => `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
