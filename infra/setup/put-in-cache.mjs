import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, cachedFolder } from './server-locations.mjs';

/**
 * Lets `fill` put files into an empty folder and moves that to `<cache>/<name>-<version>` in one step, so that a folder in the cache is
 * always whole. @returns that folder.
 */
export async function putInCache(name, version, fill) {
  const target = cachedFolder(name, version);
  mkdirSync(cacheFolder(), { recursive: true });
  const folder = mkdtempSync(join(cacheFolder(), `.${name}-`));
  chmodSync(folder, 0o755);
  try {
    await fill(folder);
    if (existsSync(target)) rmSync(target, { recursive: true });
    renameSync(folder, target);
    return target;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
