import { opendir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from './error-code.ts';

/** Files below `top` whose path, relative and with `/`, starts with `prefix`; folders that cannot hold such a file are not read. */
export async function* filesUnder(top: string, prefix: string, path = ''): AsyncGenerator<string> {
  const folder = await opendir(join(top, path)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined; // Removed meanwhile, or never made.
    throw error;
  });
  if (folder === undefined) return;
  for await (const entry of folder) {
    const found = `${path}${entry.name}`;
    if (entry.isFile() && found.startsWith(prefix)) yield found;
    if (entry.isDirectory() && (found.startsWith(prefix) || prefix.startsWith(`${found}/`))) {
      yield* filesUnder(top, prefix, `${found}/`);
    }
  }
}

/** Removes a file, if it is there, and the folders above it that are empty then, up to `top`. */
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
