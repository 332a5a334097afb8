import { chmod, lstat, mkdir, opendir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#shared/runtime/failures.ts';

const folderMode = 0o700;
const fileMode = 0o600;

/** Sets the umask, so that folders and files of this process and its children are created with modes 0700 and 0600. */
export function createPrivately(): void {
  process.umask(0o077);
}

/**
 * Creates `folder` if it is missing, and sets these modes on it and everything inside. Links are not followed. `foreign` is the number of entries
 * that kept their modes because they belong to another user. The folder itself comes first, because that already denies access to its content.
 */
export async function closeFolder(folder: string): Promise<{ foreign: number }> {
  await mkdir(folder, { recursive: true, mode: folderMode });
  let foreign = 0;
  const unlessForeign = async (change: Promise<void>): Promise<void> => {
    await change.catch((error: unknown) => {
      const code = errorCode(error);
      if (code === 'EPERM' || code === 'EACCES') foreign += 1;
      // Another process removed it meanwhile.
      else if (code !== 'ENOENT') throw error;
    });
  };
  const closeFile = async (path: string): Promise<void> => {
    const { mode } = await lstat(path);
    if ((mode & 0o777) !== fileMode) await chmod(path, fileMode);
  };
  const closeAll = async (path: string): Promise<void> => {
    await unlessForeign(chmod(path, folderMode));
    const folders: string[] = [];
    await unlessForeign(
      (async () => {
        for await (const entry of await opendir(path)) {
          const inside = join(path, entry.name);
          if (entry.isDirectory()) folders.push(inside);
          else if (entry.isFile()) await unlessForeign(closeFile(inside));
        }
      })(),
    );
    for (const inside of folders) await closeAll(inside);
  };
  await closeAll(await realpath(folder));
  return { foreign };
}
