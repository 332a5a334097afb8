import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Another process works on the data folder; the message names it. */
export class FolderInUse extends Error {
  override name = 'FolderInUse';
}

/** Takes the data folder for this process until `release`. The lock of a process that is gone counts as none. */
export async function lockFolder(dataFolder: string): Promise<{ release(): Promise<void> }> {
  const file = join(dataFolder, 'lock');
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return undefined;
      throw error;
    });
    if (handle !== undefined) {
      await handle.writeFile(String(process.pid));
      await handle.close();
      return { release: () => rm(file, { force: true }) };
    }
    const holder = Number(await readFile(file, 'utf8').catch(() => ''));
    if (Number.isInteger(holder) && holder > 0 && holder !== process.pid && isAlive(holder)) {
      throw new FolderInUse(
        `Process ${holder} runs on the data folder ${dataFolder} already. Stop it first (Ctrl-C, or "kill ${holder}"), or choose another folder with BINDERY_DATA.`,
      );
    }
    await rm(file, { force: true });
  }
  throw new FolderInUse(`The data folder ${dataFolder} was taken by another process just now.`);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process is there but belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
