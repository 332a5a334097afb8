import { randomUUID } from 'node:crypto';
import { type FileHandle, link, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from './error-code.ts';

/** How often a target's folder is made again when it is pruned just then. */
const ATTEMPTS = 10;

/**
 * Files on their way into the folder store: written and synced under a name of their own in `uploads`, then moved in one step to where
 * readers look. A writer that dies leaves its file in `uploads` only.
 */
export type FolderUploads = {
  /** Writes a file with `write`, then moves it to `target`; false if `target` exists and `replace` is off. */
  store(target: string, options: { replace: boolean }, write: (file: FileHandle) => Promise<void>): Promise<boolean>;
  /** Removes files that nobody wrote to since `olderThan`; how many. */
  sweep(olderThan: Date): Promise<number>;
  /** Rejects when files cannot be written. */
  check(): Promise<void>;
};

export function folderUploads(folder: string): FolderUploads {
  return {
    async store(target, { replace }, write) {
      await mkdir(folder, { recursive: true });
      const upload = join(folder, randomUUID());
      try {
        const file = await open(upload, 'wx');
        try {
          await write(file);
          await file.sync();
        } finally {
          await file.close();
        }
        return await moveTo(upload, target, replace);
      } finally {
        await rm(upload, { force: true });
      }
    },
    async sweep(olderThan) {
      let swept = 0;
      for (const name of await readdir(folder).catch(noFolder)) {
        const path = join(folder, name);
        const modifiedAt = await stat(path).then(
          (stats) => stats.mtime,
          () => undefined, // Finished meanwhile.
        );
        if (modifiedAt === undefined || modifiedAt >= olderThan) continue;
        await rm(path, { force: true });
        swept++;
      }
      return swept;
    },
    async check() {
      await mkdir(folder, { recursive: true });
      const probe = join(folder, randomUUID());
      await writeFile(probe, 'x', { flag: 'wx' });
      await rm(probe, { force: true });
    },
  };
}

async function moveTo(upload: string, target: string, replace: boolean): Promise<boolean> {
  const parent = dirname(target);
  for (let attempt = 1; ; attempt++) {
    const firstCreated = await mkdir(parent, { recursive: true });
    try {
      // A hard link fails if the name is taken, a rename replaces it: both in one step of the file system.
      await (replace ? rename(upload, target) : link(upload, target));
      await syncFolders(parent, firstCreated === undefined ? parent : dirname(firstCreated));
      return true;
    } catch (error) {
      if (errorCode(error) === 'EEXIST' && !replace) return false;
      // Another writer's removal pruned the empty folder between the two steps.
      if (errorCode(error) !== 'ENOENT' || attempt === ATTEMPTS) throw error;
    }
  }
}

/** A name is on disk once its folder is: from `folder` up to `top`, which are the ones that got a new entry. */
async function syncFolders(folder: string, top: string): Promise<void> {
  if (process.platform === 'win32') return; // Folders cannot be opened there.
  for (let current = folder; ; current = dirname(current)) {
    const handle = await open(current, 'r').catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return undefined; // Pruned: then the object is gone as well.
      throw error;
    });
    try {
      await handle?.sync();
    } finally {
      await handle?.close();
    }
    if (current === top) return;
  }
}

function noFolder(error: unknown): string[] {
  if (errorCode(error) === 'ENOENT') return [];
  throw error;
}
