import { createHash } from 'node:crypto';
import {
  chmodSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { cachedFolder, cacheFolder } from './server-locations.mjs';
import { say, StepFailed } from './steps.mjs';

/**
 * Lets `fill` put files into an empty folder and then renames it to `<cache>/<name>-<version>`, so that a folder in the cache is always
 * complete. @returns that folder.
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

const retryMs = 200;
// Age after which a lock counts as abandoned, longer than any step takes. Process ids cannot show this to another container with the same cache.
const abandonedAfterMs = 20 * 60_000;

/** Runs `work` under a lock of this name in the cache. The lock of a process that has ended is ignored. */
export async function withLock(name, work) {
  const folder = join(cacheFolder(), 'locks');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  for (let told = false; !take(file); ) {
    const owner = ownerOf(file);
    if (owner === 'gone') {
      rmSync(file, { force: true });
      continue;
    }
    if (!told) say(`another set-up (process ${owner}) is already doing this; waiting for it`);
    told = true;
    await delay(retryMs);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function ownerOf(file) {
  try {
    if (Date.now() - statSync(file).mtimeMs > abandonedAfterMs) return 'gone';
    const pid = Number(readFileSync(file, 'utf8'));
    // Another process has created the file but not written its id yet.
    if (!pid) return 'that just started';
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return error.code === 'EPERM' ? 'of another user' : 'gone';
  }
}

/** @throws StepFailed when the file's SHA-256 is not the pinned one. */
export async function checkDigest(file, pinned, what) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const found = hash.digest('hex');
  if (found === pinned) return;
  throw new StepFailed(`${what} has SHA-256 ${found}, not the pinned ${pinned}: it was not used`);
}
