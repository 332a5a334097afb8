import { readFileSync, statSync } from 'node:fs';
import { readFile, realpath, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '#infra/setup/server-locations.mjs';
import type { NamedFiles, ProjectFile } from '#shared/docs/project/project-files.ts';
import { mayNameDescription } from '#shared/docs/reference/named-addresses.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { projectFilesIn } from './folder-project.ts';
import { removeUnused, writeWhole } from './kept-records.ts';

/** A docs project in a folder whose files are read on demand. The hash of a file that has not changed since an earlier command comes from a cache. */
export type UnreadFolder = NamedFiles & {
  /** The current bytes of the whole file. */
  bytesOf(path: string): Uint8Array;
  /** The hash and size of the file. */
  entryOf(path: string): ProjectFile;
  /** Keeps the hashes for the next command. */
  remember(): Promise<void>;
};

/** The state of a file when its bytes were hashed, and whether they may name an API description. */
type SeenFile = {
  sha256: string;
  sizeBytes: number;
  modifiedMs: number;
  changedMs: number;
  inode: number;
  mayName: boolean;
};

/**
 * A file in the record: hash, size, times of modification and change, inode, and path. The record of a large site is read and written by each command, and
 * as JSON with a schema that takes three times as long.
 */
const seenLine = /^([0-9a-f]{64}) (\d+) (-?[\d.]+) (-?[\d.]+) (\d+) ([01]) (.+)$/;

const lineOf = (path: string, { sha256, sizeBytes, modifiedMs, changedMs, inode, mayName }: SeenFile): string =>
  `${sha256} ${sizeBytes} ${modifiedMs} ${changedMs} ${inode} ${mayName ? 1 : 0} ${path}`;

/**
 * A file that was written this shortly before it was hashed is hashed again: it may have been written once more within the same tick of the file system's
 * clock. Some file systems have ticks of two seconds.
 */
const tickMs = 2_000;

export type UnreadFolderOptions = {
  /** Folder of the hashes that earlier commands found. */
  cache?: string;
  now?: () => number;
};

/** Opens a folder. Throws `NotAProject` when it has no `docs.json` or `mint.json`. */
export async function unreadFolder(
  folder: string,
  { cache = join(cacheFolder(), 'hashes'), now = Date.now }: UnreadFolderOptions = {},
): Promise<UnreadFolder> {
  const files = (await projectFilesIn(folder)).map((path) => ({ path }));
  const record = join(cache, `${sha256Of(await realpath(folder)).slice(0, 32)}.txt`);
  const before = await seenBefore(record);
  const seen = new Map<string, SeenFile>();
  let isNew = false;

  // Files are read synchronously: a site has tens of thousands of small files, and with promises each takes three times as long.
  const bytesOf = (path: string): Uint8Array => {
    const hashedAt = now();
    const state = stateOf(join(folder, path));
    const bytes = readFileSync(join(folder, path));
    const isSettled = Math.max(state.modifiedMs, state.changedMs) < hashedAt - tickMs;
    const found = { ...state, sha256: sha256Of(bytes), sizeBytes: bytes.length, mayName: mayNameDescription(bytes) };
    seen.set(path, isSettled ? found : { ...found, changedMs: -1 });
    isNew = true;
    return bytes;
  };
  const fileOf = (path: string): SeenFile => {
    const known = seen.get(path) ?? unchanged(before.get(path), () => stateOf(join(folder, path)));
    if (known === undefined) bytesOf(path);
    else seen.set(path, known);
    return seen.get(path) as SeenFile;
  };
  return {
    files,
    bytesOf,
    read: async (path, maxBytes) => bytesOf(path).subarray(0, maxBytes),
    mayName: (path) => fileOf(path).mayName,
    entryOf(path) {
      const { sha256, sizeBytes } = fileOf(path);
      return { path, sha256, sizeBytes };
    },
    async remember() {
      const isSame = !isNew && seen.size === before.size;
      const usedAt = new Date(now());
      // Without the record, the next command reads all files again.
      const text = (): string => Array.from(seen, ([path, file]) => lineOf(path, file)).join('\n');
      await (isSame ? utimes(record, usedAt, usedAt) : writeWhole(record, text())).catch(() => undefined);
      await removeUnused(cache, now()).catch(() => undefined);
    },
  };
}

type FileState = Pick<SeenFile, 'sizeBytes' | 'modifiedMs' | 'changedMs' | 'inode'>;

function stateOf(file: string): FileState {
  const { size, mtimeMs, ctimeMs, ino } = statSync(file);
  return { sizeBytes: size, modifiedMs: mtimeMs, changedMs: ctimeMs, inode: ino };
}

/** The file as it was seen, if it is still in the same state. Every write changes `changedMs`, also one that restores the time of modification. */
function unchanged(before: SeenFile | undefined, state: () => FileState): SeenFile | undefined {
  if (before === undefined || before.changedMs < 0) return undefined;
  const now = state();
  const isSame = (['sizeBytes', 'modifiedMs', 'changedMs', 'inode'] as const).every((key) => now[key] === before[key]);
  return isSame ? before : undefined;
}

async function seenBefore(record: string): Promise<ReadonlyMap<string, SeenFile>> {
  const text = await readFile(record, 'utf8').catch(() => '');
  const seen = new Map<string, SeenFile>();
  for (const line of text.split('\n')) {
    const [, sha256, sizeBytes, modifiedMs, changedMs, inode, mayName, path] = seenLine.exec(line) ?? [];
    // A line of another version, or of a path with a line break, is left out, so that file is read again.
    if (sha256 === undefined || path === undefined) continue;
    seen.set(path, {
      sha256,
      sizeBytes: Number(sizeBytes),
      modifiedMs: Number(modifiedMs),
      changedMs: Number(changedMs),
      inode: Number(inode),
      mayName: mayName === '1',
    });
  }
  return seen;
}
