import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cacheFolder } from './server-locations.mjs';
import { say } from './step.mjs';

const retryMs = 200;
// A number of a process says nothing about another container that shares the cache; no step takes this long.
const abandonedAfterMs = 20 * 60_000;

/** Runs `work` while no other set-up on this cache runs work of the same name; the lock of a process that is gone does not count. */
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
    if (!told) say(`another set-up (process ${owner}) is at it; waiting for it`);
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
    // Another process has created the file and not yet written its number.
    if (!pid) return 'that just started';
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return error.code === 'EPERM' ? 'of another user' : 'gone';
  }
}
