import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const longestUploadMs = 24 * 3_600_000;

/** Makes the folder for uploads, and removes what publishers that were killed left in it more than a day before `now`. */
export async function prepareUploadFolder(folder: string, now: Date): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    // Another publisher may be at the same; what is gone need not be removed.
    const modifiedMs = await stat(path).then(
      (found) => found.mtimeMs,
      () => now.getTime(),
    );
    if (now.getTime() - modifiedMs > longestUploadMs) await rm(path, { recursive: true, force: true });
  }
}
