import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pictureAddresses } from '#shared/docs/project/picture-addresses.ts';
import { isSource } from '#shared/docs/project/project-files.ts';
import { mayNameDescription } from '#shared/docs/reference/named-addresses.ts';
import type { RemoteFlags } from '../command-options.ts';
import { projectFilesIn } from '../folder-project.ts';
import { remoteOf } from '../remote/remote-of.ts';
import type { RemoteParts } from '../remote/remote-parts.ts';

/** Follows the addresses that a project names, in the background. */
export type DevRemote = {
  /** Looks at the whole project. Never rejects. */
  begin(): Promise<void>;
  /** Looks again if these files may name another address. Never rejects. */
  changed(files: readonly string[]): Promise<void>;
};

/**
 * Fetches the files that the project in `folder` names by address. `onParts` is called with those of the cache, and again with all of them. One look
 * follows the other, and changes during a look are followed by one more.
 */
export function devRemote(
  folder: string,
  flags: RemoteFlags,
  { onParts, onError }: { onParts: (parts: RemoteParts) => Promise<void>; onError: (error: unknown) => void },
): DevRemote {
  let known: RemoteParts | undefined;
  let running: Promise<void> = Promise.resolve();
  let isWaiting = false;
  let refresh = flags.refresh;

  async function look(): Promise<void> {
    isWaiting = false;
    try {
      const files = (await projectFilesIn(folder)).map((path) => ({ path }));
      const read = async (path: string, maxBytes: number): Promise<Uint8Array> =>
        (await readFile(join(folder, path))).subarray(0, maxBytes);
      const own = { ...flags, refresh };
      refresh = false;
      let begun: Promise<void> = Promise.resolve();
      const parts = await remoteOf({ files, read }, folder, own, {
        // Its author watches it, so it writes the lock everywhere.
        isCi: false,
        onBegin: (first) => {
          if (first.diagnostics.length > 0) begun = onParts(first);
        },
      });
      await begun;
      known = parts;
      await onParts(parts);
    } catch (error) {
      onError(error);
    }
  }

  function begin(): Promise<void> {
    if (!isWaiting) {
      isWaiting = true;
      running = running.then(look);
    }
    return running;
  }

  /** True if a file may name an address that is not known, or is part of the configuration. */
  async function isNews(file: string): Promise<boolean> {
    if (/\.json$/i.test(file) && !file.startsWith('_remote/')) return true;
    if (!isSource(file)) return false;
    const bytes = await readFile(join(folder, file)).catch(() => undefined);
    if (bytes === undefined || !bytes.includes('http')) return false;
    if (mayNameDescription(bytes)) return true;
    if (known?.pictures !== true) return false;
    return pictureAddresses(bytes.toString()).some(({ address }) => known?.addresses.has(address) === false);
  }

  return {
    begin,
    async changed(files) {
      for (const file of files)
        if (await isNews(file)) {
          await begin();
          return;
        }
    },
  };
}
