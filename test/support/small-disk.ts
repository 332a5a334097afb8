import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWithServers, skipSuite } from './describe-with-servers.ts';

export type SmallDisk = {
  folder: string;
  /** Fills the disk. */
  fill(): void;
  /** Removes the data of `fill`. */
  free(): void;
  makeReadOnly(): void;
  remove(): void;
};

/** Mounts a small disk in memory. Throws where this process may not mount one. */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      const file = openSync(filler, 'a');
      try {
        for (const bytes of [1 << 20, 1 << 12, 1]) writeUntilFull(file, Buffer.alloc(bytes));
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    makeReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', folder], { stdio: 'pipe' }),
    remove() {
      execFileSync('umount', ['--lazy', folder], { stdio: 'pipe' });
      rmSync(folder, { recursive: true });
    },
  };
}

function writeUntilFull(file: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(file, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** `describe` for a suite with a nats-server that fills a disk. It is skipped with a message where no disk can be mounted. */
export function describeWithSmallDisk(title: string, suite: () => void): void {
  try {
    mountSmallDisk(1).remove();
  } catch {
    skipSuite(title, 'only root can mount a small disk, on Linux', suite);
    return;
  }
  describeWithServers(['nats-server'], title, suite);
}
