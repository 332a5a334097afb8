import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';

/** Another process uses the data folder. The message names it. */
export class FolderInUse extends Error {
  override name = 'FolderInUse';
}

/**
 * Locks the data folder for this process until `release`. The operating system holds the lock and releases it however the process ends, so
 * a leftover process number need not be checked. The lock needs no disk space, so a service can start and serve its data on a full disk,
 * too. Throws `FolderInUse`.
 */
export async function lockFolder(dataFolder: string): Promise<{ release(): Promise<void> }> {
  const holderFile = join(dataFolder, 'lock');
  // SQLite has the only such lock available in Node. The file stays empty and is never removed, because a second file with its name would
  // be unlocked.
  const lock = new DatabaseSync(join(dataFolder, 'lock.sqlite'), { timeout: 0 });
  try {
    // Otherwise SQLite begins a journal, which a full disk has no room for.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    await writeFile(holderFile, String(process.pid), { mode: 0o600 }).catch((error: unknown) => {
      // The number only serves the error message of a refused process.
      if (errorCode(error) !== 'ENOSPC') throw error;
    });
  } catch (error) {
    lock.close();
    if (!isLocked(error)) {
      throw new Error(`The data folder ${dataFolder} cannot be used: ${messageOf(error)}.`, { cause: error });
    }
    const holder = await readFile(holderFile, 'utf8').catch(() => '');
    throw new FolderInUse(
      holder === ''
        ? `Another process has just locked the data folder ${dataFolder}.`
        : `Process ${holder} runs on the data folder ${dataFolder} already. Stop it first (Ctrl-C, or "kill ${holder}"), or choose another folder with BINDERY_DATA.`,
    );
  }
  let isHeld = true;
  return {
    async release() {
      if (!isHeld) return;
      isHeld = false;
      await rm(holderFile, { force: true });
      lock.close();
    },
  };
}

const sqliteBusy = 5;

const isLocked = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;
