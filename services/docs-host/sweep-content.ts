import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { contentFile, type StoredBytes } from './content-folder.ts';
import type { BundleFacts } from './prepare-version.ts';
import { type ListParts, readListParts, storedIn } from './version-list.ts';

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
 * be read. Shards that versions have in common are read only to find the files that they name.
 */
export async function sweepContent({ content, kept, gone }: SweepRequest): Promise<void> {
  const keptLists = await Promise.all(kept.map(readListParts));
  const unneeded =
    gone === undefined
      ? await unnamed(content, keptLists)
      : await unneededOf(content, (await Promise.all(gone.map(partsOrNone))).flat(), keptLists);
  await inParallel([...unneeded], removedAtOnce, (sha256) => rm(contentFile(content, sha256), { force: true }));
}

/** The parts of a list; none if it is damaged: a later start removes its files. */
const partsOrNone = (folder: string): Promise<ListParts[]> =>
  readListParts(folder).then(
    (parts) => [parts],
    () => [],
  );

/** The files that no list names. */
async function unnamed(content: string, lists: readonly ListParts[]): Promise<Set<string>> {
  const named = new Set<string>();
  for await (const { sha256 } of namedIn(content, lists)) named.add(sha256);
  const found = new Set<string>();
  for (const folder of await readdir(content).catch(() => []))
    for (const name of await readdir(join(content, folder))) if (!named.has(name)) found.add(name);
  return found;
}

/** The files that only the lists of removed versions name, their shards included. */
async function unneededOf(
  content: string,
  gone: readonly ListParts[],
  kept: readonly ListParts[],
): Promise<Set<string>> {
  const stays = new Set(kept.flatMap(({ shards }) => shards.map(({ sha256 }) => sha256)));
  const own = gone.map((list) => ({ ...list, shards: list.shards.filter(({ sha256 }) => !stays.has(sha256)) }));
  const found = new Set<string>();
  for await (const { sha256 } of namedIn(content, own, unlessLost)) found.add(sha256);
  if (found.size > 0) for await (const { sha256 } of namedIn(content, kept)) found.delete(sha256);
  return found;
}

type Reading = (file: string) => Promise<Buffer>;

const unlessLost: Reading = (file) =>
  readFile(file).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  });

/** The shards of lists, each once, and the files that their lines name. */
async function* namedIn(
  content: string,
  lists: readonly ListParts[],
  read: Reading = readFile,
): AsyncGenerator<StoredBytes> {
  const shards = new Map(lists.flatMap((list) => list.shards.map((shard) => [shard.sha256, shard])));
  for (const { own } of lists) for (const lines of own) yield* storedIn(lines);
  for (const shard of shards.values()) {
    yield shard;
    yield* storedIn(await read(contentFile(content, shard.sha256)));
  }
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
  const manifest = await readFile(contentFile(content, bundle.manifest.sha256), 'latin1');
  const ofBundle = new Set(manifest.match(/[0-9a-f]{64}/g));
  for (const { sha256 } of [bundle.manifest, ...(bundle.config === undefined ? [] : [bundle.config])])
    ofBundle.add(sha256);
  const others = (await Promise.all(kept.map(partsOrNone))).flat();
  for (const sha256 of await unneededOf(content, await partsOrNone(version), others))
    if (!ofBundle.has(sha256)) await rm(contentFile(content, sha256), { force: true });
}
