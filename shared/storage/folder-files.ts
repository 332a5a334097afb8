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

/** How often the target's folder is made again when another writer prunes it. */
const moveAttempts = 10;

/**
 * Files on their way into the folder store. Each is written and synced under a name of its own in `uploads`, then moved in one step to
 * where readers look. A writer that dies leaves its file in `uploads` only.
 */
export function folderUploads(folder: string) {
  return {
    /** Writes a file of these bytes, which are few, or with `write`, then moves it to `target`; false if `target` exists and `replace` is off. */
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
        // A rename leaves nothing.
        if (!(isMoved && replace)) await rm(upload, { force: true });
      }
    },
    /** Removes files that were last written before `olderThan`, and says how many. */
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

/** Another thread waits for the disk alone. */
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

/** What `making` gives, which makes something in `folder`. The folder is made when it is not there. */
async function inFolder<T>(folder: string, making: () => Promise<T>): Promise<T> {
  try {
    return await making();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    await mkdir(folder, { recursive: true });
    return making();
  }
}

/** What `reading` gives, or `otherwise` when the file or folder is not there (or no longer). */
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
      // A hard link fails if the name is taken, a rename replaces it: both in one step of the file system.
      await (replace ? rename(upload, target) : link(upload, target));
      await syncFolders(parent, top);
      return true;
    } catch (error) {
      if (errorCode(error) === 'EEXIST' && !replace) return false;
      // The first one, or another writer's removal pruned the empty folder.
      if (errorCode(error) !== 'ENOENT' || attempt === moveAttempts) throw error;
      // Whoever made the folder, its own name must be on disk, too. What was made above it may be pruned at once.
      const above = dirname((await unlessGone(mkdir(parent, { recursive: true }), undefined)) ?? parent);
      if (above.length < top.length) top = above;
    }
  }
}

/** A name is on disk once its folder is synced: from `folder` up to `top`, all of which got a new entry. */
async function syncFolders(folder: string, top: string): Promise<void> {
  if (process.platform === 'win32') return; // Folders cannot be opened there.
  for (let current = folder; ; current = dirname(current)) {
    await syncFolder(current);
    if (current === top) return;
  }
}

/** The sync of a folder that has not begun yet, by path: one is enough for all names that are there when it begins. */
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
  const handle = await unlessGone(open(folder, 'r'), undefined); // Pruned: then the object is gone as well.
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

/** Removes a file, if it is there, and the folders above it that are then empty, up to `top`. */
export async function removeFile(path: string, top: string): Promise<void> {
  await rm(path, { force: true });
  for (let folder = dirname(path); folder !== top; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') continue;
      return; // Not empty: the codes for that differ between systems, and a folder that stays does no harm.
    }
  }
}
