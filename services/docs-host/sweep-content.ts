import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { contentFile } from './content-folder.ts';
import type { BundleFacts } from './prepare-version.ts';
import { linesFile, storedIn } from './version-list.ts';

export type SweepRequest = {
  /** Folder with the bytes of all versions. */
  content: string;
  /** Folders of the versions that stay. */
  kept: readonly string[];
  /** Folders of versions that are removed; undefined: every file that no kept version names is removed. */
  gone?: readonly string[] | undefined;
};

const removedAtOnce = 8;

/**
 * Removes the files of removed versions, except those that a kept version names. Rejects, and removes nothing, if the list of a kept version cannot
 * be read. If a list is damaged in another way, it names too few files; its version is then prepared again from the bundle.
 */
export async function sweepContent({ content, kept, gone }: SweepRequest): Promise<void> {
  const keptLists = await Promise.all(kept.map((folder) => readFile(join(folder, linesFile))));
  const unneeded =
    gone === undefined
      ? await unnamed(content, keptLists)
      : unneededOf(
          (await Promise.all(gone.map(readLines))).flatMap((list) => list ?? []),
          keptLists,
        );
  await inParallel([...unneeded], removedAtOnce, (sha256) => rm(contentFile(content, sha256), { force: true }));
}

const readLines = (folder: string): Promise<Buffer | undefined> =>
  readFile(join(folder, linesFile)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });

/** The files that no list names. */
async function unnamed(content: string, lists: readonly Buffer[]): Promise<Set<string>> {
  const named = new Set(lists.flatMap((list) => storedIn(list).map(({ sha256 }) => sha256)));
  const found = new Set<string>();
  for (const folder of await readdir(content).catch(() => []))
    for (const name of await readdir(join(content, folder))) if (!named.has(name)) found.add(name);
  return found;
}

/** Number of digests that are looked for one by one. For more, all digests of a list are read. */
const mostSearched = 64;

/** The digests that only the lists of removed versions name. Versions of a site have most lines in common, and these are left out first. Pure. */
export function unneededOf(gone: readonly Buffer[], kept: readonly Buffer[]): Set<string> {
  const newest = kept[0] ?? Buffer.alloc(0);
  const found = new Set(
    gone.flatMap((list) => linesBeside(list, newest).flatMap((line) => storedIn(line).map(({ sha256 }) => sha256))),
  );
  for (const list of kept) {
    if (found.size > mostSearched) for (const { sha256 } of storedIn(list)) found.delete(sha256);
    else for (const sha256 of found) if (list.includes(sha256, 0, 'latin1')) found.delete(sha256);
  }
  return found;
}

const lineEnd = 10;

/** The lines of a sorted list that another sorted list does not have. */
function linesBeside(list: Buffer, other: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let from = 0;
  for (let at = 0; at < list.length; ) {
    const end = endOfLine(list, at);
    const line = list.subarray(at, end);
    let order = 1;
    while (from < other.length) {
      const next = endOfLine(other, from);
      order = line.compare(other, from, next);
      if (order < 0) break;
      from = next;
      if (order === 0) break;
    }
    if (order !== 0) found.push(line);
    at = end;
  }
  return found;
}

function endOfLine(list: Buffer, at: number): number {
  const end = list.indexOf(lineEnd, at);
  return end < 0 ? list.length : end + 1;
}

/**
 * Removes the files that the host made for a version, to free the disk space that making them again needs. The files of its bundle, and those that a
 * `kept` version names, stay. `bundle`: the files of its bundle; undefined for a version that an earlier program unpacked.
 */
export async function removeMade(
  version: string,
  content: string,
  bundle: BundleFacts | undefined,
  kept: readonly string[],
): Promise<void> {
  if (bundle === undefined) {
    for (const made of ['pages', 'br', 'gzip']) await rm(join(version, made), { recursive: true, force: true });
    return;
  }
  const lists = await Promise.all(kept.map(readLines));
  const own = (await readLines(version)) ?? Buffer.alloc(0);
  const manifest = await readFile(contentFile(content, bundle.manifest.sha256), 'latin1');
  const ofBundle = new Set(manifest.match(/[0-9a-f]{64}/g));
  for (const { sha256 } of [bundle.manifest, ...(bundle.config === undefined ? [] : [bundle.config])])
    ofBundle.add(sha256);
  const others = lists.flatMap((list) => list ?? []);
  for (const sha256 of unneededOf([own], others))
    if (!ofBundle.has(sha256)) await rm(contentFile(content, sha256), { force: true });
}
