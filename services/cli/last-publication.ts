import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '#infra/setup/server-locations.mjs';
import type { ListedFile } from '#shared/interfaces/http/listed-files.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { removeUnused, writeWhole } from './kept-records.ts';

/**
 * The files of the last publication from a folder that a server accepted as the latest content of a domain. The next publication takes them for those
 * that the server has, and asks it which files it lacks only if that was wrong.
 */
export type LastPublication = {
  /** Hashes of the files; undefined if none are known. */
  hashes(): Promise<ReadonlySet<string> | undefined>;
  /** Keeps the hashes of these files for the next command. */
  remember(files: readonly Pick<ListedFile, 'sha256'>[]): Promise<void>;
};

export function lastPublication(
  { folder, baseUrl, domain }: { folder: string; baseUrl: string; domain: string },
  { cache = join(cacheFolder(), 'published') }: { cache?: string } = {},
): LastPublication {
  const record = async (): Promise<string> =>
    join(cache, `${sha256Of(JSON.stringify([await realpath(folder), baseUrl, domain])).slice(0, 32)}.txt`);
  return {
    async hashes() {
      const text = await record()
        .then((file) => readFile(file, 'utf8'))
        .catch(() => undefined);
      return text === undefined ? undefined : new Set(text.split('\n'));
    },
    async remember(files) {
      const text = files.map(({ sha256 }) => sha256).join('\n');
      // The server has accepted the files by now, so a folder that was removed meanwhile is no failure either.
      await record()
        .then((file) => writeWhole(file, text))
        .catch(() => undefined);
      await removeUnused(cache, Date.now()).catch(() => undefined);
    },
  };
}
