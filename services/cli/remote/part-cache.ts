import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { removeUnused } from '../kept-records.ts';

/** Limit of kept files. Least recently used ones are removed first. */
const mostFiles = 5_000;

/** Bytes of fetched files by their SHA-256, in a folder of the user's cache. A file that cannot be kept is fetched again the next time. */
export function partCache(folder: string) {
  const fileOf = (sha256: string): string => join(folder, sha256);
  return {
    /** The bytes with this digest; undefined if there are none, or they are damaged. */
    async get(sha256: string): Promise<Uint8Array | undefined> {
      try {
        const bytes = await readFile(fileOf(sha256));
        if (sha256Of(bytes) !== sha256) return undefined;
        const { mtimeMs } = await stat(fileOf(sha256));
        if (mtimeMs < Date.now() - dayMs) await utimes(fileOf(sha256), new Date(), new Date());
        return bytes;
      } catch {
        return undefined;
      }
    },
    async put(sha256: string, bytes: Uint8Array): Promise<void> {
      const part = `${fileOf(sha256)}.${process.pid}.part`;
      try {
        await mkdir(folder, { recursive: true });
        await writeFile(part, bytes, { mode: 0o600 });
        await rename(part, fileOf(sha256));
      } catch {
        await rm(part, { force: true });
      }
    },
    /** Removes files that no command has used for two months. */
    tidy: (): Promise<void> => removeUnused(folder, Date.now(), mostFiles).catch(() => undefined),
  };
}
