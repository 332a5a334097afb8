import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dayMs } from '#shared/runtime/time-and-ids.ts';

/*
 * Folders of records that a command keeps for the next one, each a file whose time of modification is that of its last use. A record only saves work, so
 * one that cannot be kept is not an error.
 */

/** Time without a command after which a record is removed. */
const keptMs = 60 * dayMs;
/** Limit of records. A pipeline may publish from a new folder each time. */
const mostRecords = 100;

/**
 * Removes records that were not used for two months, and the least recently used ones beyond the limit. A newer command may use another record
 * meanwhile.
 */
export async function removeUnused(cache: string, now: number, most = mostRecords): Promise<void> {
  const records = await Promise.all(
    (await readdir(cache)).map(async (name) => {
      const path = join(cache, name);
      return { path, usedAt: (await stat(path)).mtimeMs };
    }),
  );
  const byUse = records.toSorted((a, b) => b.usedAt - a.usedAt);
  const unused = byUse.filter(({ usedAt }, at) => at >= most || usedAt < now - keptMs);
  await Promise.all(unused.map(({ path }) => rm(path, { force: true })));
}

/** Writes a record, which readers see whole or not at all. */
export async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true });
  const part = `${file}.${process.pid}`;
  await writeFile(part, text);
  await rename(part, file);
}
