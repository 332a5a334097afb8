import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';

/** Another process uses the data folder; the message names it. */
export class FolderInUse extends Error {
  override name = 'FolderInUse';
}

/**
 * Takes the data folder for this process until `release`. The system holds the lock, and lets go of it however the process ends: nobody has
 * to guess whether a number that was left behind is that of a living holder. It needs no room: whoever has what to serve starts on a full
 * disk, too. Throws `FolderInUse`.
 */
export async function lockFolder(dataFolder: string): Promise<{ release(): Promise<void> }> {
  const holderFile = join(dataFolder, 'lock');
  // SQLite has the one lock of this kind in Node. The file stays empty, and is never removed: a second one of its name would be free.
  const lock = new DatabaseSync(join(dataFolder, 'lock.sqlite'), { timeout: 0 });
  try {
    // Else SQLite begins a journal, for which a full disk has no room.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    await writeFile(holderFile, String(process.pid), { mode: 0o600 }).catch((error: unknown) => {
      // The number only helps whoever is refused.
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
        ? `Another process took the data folder ${dataFolder} just now.`
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
