import { randomUUID } from 'node:crypto';
import { closeSync, fsync, openSync, writeFileSync } from 'node:fs';
import {
  type FileHandle,
  link,
  mkdir,
  open,
  opendir,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from '#shared/runtime/failures.ts';
import { isTurnOver, nextTurn } from './file-turns.ts';

/** Limit of tries to recreate the target's folder when another writer prunes it. */
const moveAttempts = 10;

/**
 * Uploads to the folder store. Each file is written and synced under its own name in `uploads`, then moved atomically to the place where
 * readers look. A writer that dies leaves a file only in `uploads`.
 */
export function folderUploads(folder: string) {
  return {
    /**
     * Writes a file, either the given bytes at once or by calling `write`, then moves it to `target`. False if `target` exists and `replace` is off.
     */
    async store(
      target: string,
      replace: boolean,
      write: Uint8Array | ((file: FileHandle) => Promise<void>),
    ): Promise<boolean> {
      const upload = join(folder, randomUUID());
      let isMoved = false;
      try {
        await inFolder(folder, () =>
          write instanceof Uint8Array ? writeNow(upload, write) : writeWith(upload, write),
        );
        isMoved = await moveTo(upload, target, replace);
        return isMoved;
      } finally {
        // After a rename nothing is left to remove.
        if (!(isMoved && replace)) await rm(upload, { force: true });
      }
    },
    /** Removes files that were last written before `olderThan`, and returns their number. */
    async sweep(olderThan: Date): Promise<number> {
      let swept = 0;
      for (const name of await unlessGone(readdir(folder), [])) {
        const path = join(folder, name);
        const stats = await unlessGone(stat(path), undefined);
        if (stats === undefined || stats.mtime >= olderThan) continue;
        await rm(path, { force: true });
        swept++;
      }
      return swept;
    },
    /** Rejects when files cannot be written. */
    async check(): Promise<void> {
      await mkdir(folder, { recursive: true });
      const probe = join(folder, randomUUID());
      try {
        await writeFile(probe, 'x', { flag: 'wx' });
      } finally {
        await rm(probe, { force: true });
      }
    },
  };
}

/** Writes synchronously, except for the sync to disk, which runs in another thread. */
async function writeNow(path: string, bytes: Uint8Array): Promise<void> {
  while (isTurnOver()) await nextTurn();
  const file = openSync(path, 'wx');
  try {
    writeFileSync(file, bytes);
    await syncFile(file);
  } finally {
    closeSync(file);
  }
}

const syncFile = promisify(fsync);

async function writeWith(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Runs `making`, which creates something in `folder`. A missing folder is created first. */
async function inFolder<T>(folder: string, making: () => Promise<T>): Promise<T> {
  try {
    return await making();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    await mkdir(folder, { recursive: true });
    return making();
  }
}

/** The result of `reading`, or `otherwise` when the file or folder does not, or no longer, exist. */
export async function unlessGone<T, O>(reading: Promise<T>, otherwise: O): Promise<T | O> {
  try {
    return await reading;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return otherwise;
    throw error;
  }
}

async function moveTo(upload: string, target: string, replace: boolean): Promise<boolean> {
  const parent = dirname(target);
  let top = parent;
  for (let attempt = 1; ; attempt++) {
    try {
      // A hard link fails if the name is taken, a rename replaces it. Both are atomic in the file system.
      await (replace ? rename(upload, target) : link(upload, target));
      await syncFolders(parent, top);
      return true;
    } catch (error) {
      if (errorCode(error) === 'EEXIST' && !replace) return false;
      // The folder does not exist yet, or another writer's removal pruned it because it was empty.
      if (errorCode(error) !== 'ENOENT' || attempt === moveAttempts) throw error;
      // The folder's own name must be on disk, too, whichever writer made it. Another writer may prune a folder that was just made above it, so this
      // goes up to the highest one that was ever made.
      const above = dirname((await unlessGone(mkdir(parent, { recursive: true }), undefined)) ?? parent);
      if (above.length < top.length) top = above;
    }
  }
}

/** A name is on disk once its folder is synced. Syncs the folders from `folder` up to `top`, because each got a new entry. */
async function syncFolders(folder: string, top: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows cannot open folders.
  for (let current = folder; ; current = dirname(current)) {
    await syncFolder(current);
    if (current === top) return;
  }
}

/** The next sync of each folder, by path, that has not begun yet: one is enough for all names that exist when it begins. */
const nextSyncs = new Map<string, Promise<void>>();
const runningSyncs = new Map<string, Promise<void>>();

function syncFolder(folder: string): Promise<void> {
  const waiting = nextSyncs.get(folder);
  if (waiting !== undefined) return waiting;
  const next = (async () => {
    await runningSyncs.get(folder)?.catch(() => undefined);
    nextSyncs.delete(folder);
    const running = syncNow(folder);
    runningSyncs.set(folder, running);
    try {
      await running;
    } finally {
      if (runningSyncs.get(folder) === running) runningSyncs.delete(folder);
    }
  })();
  nextSyncs.set(folder, next);
  return next;
}

async function syncNow(folder: string): Promise<void> {
  const handle = await unlessGone(open(folder, 'r'), undefined); // The folder was pruned, so the object was removed as well.
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

/** Files below `top` whose path, relative and with `/`, starts with `prefix`. Folders that cannot hold such a file are not read. */
export async function* filesUnder(top: string, prefix: string, path = ''): AsyncGenerator<string> {
  for await (const entry of await unlessGone(opendir(join(top, path)), [])) {
    const found = `${path}${entry.name}`;
    if (entry.isFile() && found.startsWith(prefix)) yield found;
    if (entry.isDirectory() && (found.startsWith(prefix) || prefix.startsWith(`${found}/`))) {
      yield* filesUnder(top, prefix, `${found}/`);
    }
  }
}

/** Removes a file if it exists, and the folders above it that are then empty, up to `top`. */
export async function removeFile(path: string, top: string): Promise<void> {
  await rm(path, { force: true });
  for (let folder = dirname(path); folder !== top; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') continue;
      return; // The folder is not empty. The error codes for that differ between systems, and a remaining folder does no harm.
    }
  }
}
