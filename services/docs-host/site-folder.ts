import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { BundleRefused } from './bundle-refused.ts';
import { prepareInChild } from './prepare-in-child.ts';
import { type BundlePlace, madeAs, type SiteMaking, type VersionRequest } from './prepare-version.ts';
import { readPreparedSite } from './prepared-site.ts';
import { type Making, readVersionList, type VersionList } from './version-list.ts';
import type { VersionLists } from './version-lists.ts';

/** A version that can be served. */
export type StoredVersion = {
  id: string;
  folder: string;
  source: BundleSource;
  /** True if this process has checked every byte of it. Files of other versions are checked when they are read. */
  isChecked: boolean;
};

/** The source of a version, so that nothing is fetched twice. */
export type BundleSource = {
  /** Identity of the bundle, equal for the same bundle: a link, a file with its size and time, a job. */
  key: string;
  /** SHA-256 of the archive; undefined for an unpacked bundle. */
  sha256?: string | undefined;
};

const sourceSchema = z.object({ key: z.string(), sha256: z.string().optional() });

const stateSchema = z.object({
  formatVersion: z.literal(1),
  active: z.string(),
  previous: z.string().optional(),
  /** Further versions that are kept, the last active one first. */
  earlier: z.array(z.string()).default([]),
});

/** The bytes of a new version. */
export type NewVersion = {
  place: BundlePlace;
  /** Size limit of the archive. */
  maxBytes: number;
  /** Version that this one follows: its files are linked where they are the same. */
  earlier?: StoredVersion | undefined;
  /** Throws if the version is not wanted. */
  check?: (manifest: VersionList['manifest']) => void;
  signal?: AbortSignal;
};

export type SiteFolderOptions = {
  /** How pages are made. It may change while the folder is open. */
  making: () => SiteMaking;
  lists: VersionLists;
  logger: Logger;
  /** Number of versions before the active one that stay. */
  keeps?: number;
  /** Heap limit of the processes that prepare versions. */
  childMegabytes?: () => number;
  /**
   * True: no version is read at the start, and files are checked when they are read. A host with a thousand sites then serves at once. False: every
   * byte is checked at the start, and a version that was made in another way is prepared again.
   */
  isLazy?: boolean;
};

/**
 * The folder in which a host keeps the versions of a site. `state.json` names the active one, and is replaced atomically; a version gets its name only
 * when it is complete. So a host that is killed at any time starts with a complete version, and unfinished files are removed.
 */
export async function openSiteFolder(
  folder: string,
  { making, lists, logger, keeps = 1, childMegabytes, isLazy = false }: SiteFolderOptions,
) {
  const versions = join(folder, 'versions');
  const stateFile = join(folder, 'state.json');
  const incoming = join(folder, 'incoming');
  await mkdir(versions, { recursive: true });
  for (const name of await readdir(versions))
    if (name.startsWith('unfinished-')) {
      logger.warn('the host ended while it unpacked a bundle: its files are removed, and the stored version is served');
      // The process that wrote them ends soon after its host, and may still add a file.
      await rm(join(versions, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    }
  /** Versions that stay in the folder. */
  const kept = new Set<string>();
  const stored = await readState();

  /** The ids of the active version and those before it. If `state.json` is lost, or written by another program, the newest versions replace it. */
  async function readState(): Promise<string[]> {
    try {
      const { active, previous, earlier } = stateSchema.parse(JSON.parse(await readFile(stateFile, 'utf8')));
      return [active, ...(previous === undefined ? [] : [previous]), ...earlier].slice(0, keeps + 1);
    } catch (error) {
      const ids = (await newestFirst()).slice(0, keeps + 1);
      if (ids.length > 0)
        logger.error(
          { versions: ids },
          `the newest stored version is served, because the state cannot be read: ${messageOf(error)}`,
        );
      return ids;
    }
  }

  async function newestFirst(): Promise<string[]> {
    const found = (await readdir(versions)).map(async (id) => ({ id, at: (await stat(join(versions, id))).mtimeMs }));
    return (await Promise.all(found)).sort((a, b) => b.at - a.at).map(({ id }) => id);
  }

  /** Reads a stored version. Returns undefined, with a line in the log, if it cannot be served. */
  async function load(id: string): Promise<StoredVersion | undefined> {
    const at = join(versions, id);
    try {
      const source = sourceSchema.parse(JSON.parse(await readFile(join(at, 'source.json'), 'utf8')));
      const version = { id, folder: at, source, isChecked: false };
      return isLazy ? version : await checked(version);
    } catch (error) {
      // A version that may be intact is kept: there was no space to prepare it again, or it could not be read now.
      if (!(error instanceof BundleRefused) && errorCode(error) !== 'ENOENT') kept.add(id);
      logger.error({ version: id }, `a stored version cannot be served: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Checks every byte. A version that was prepared for another path or deployment type, or by another program, is prepared again from its files. */
  async function checked(version: StoredVersion): Promise<StoredVersion> {
    const list = await readPreparedSite(version.folder);
    if (list === undefined || !isMadeAs(list, making())) return await again(version);
    lists.keep(version, list);
    return { ...version, isChecked: true };
  }

  /** Prepares a version again from its files. Rejects with `BundleRefused` if they are damaged. */
  async function again({ id, folder: at, source }: StoredVersion): Promise<StoredVersion> {
    const place = { kind: 'folder', path: join(at, 'files') } as const;
    return await add(source, { place, maxBytes: Number.MAX_SAFE_INTEGER }).catch((error: unknown) => {
      if (!isFull(error)) throw error;
      return addInPlace(id, source);
    });
  }

  /** Unpacks and prepares a version, in a child process. Its files are removed if that fails. */
  async function add(
    source: BundleSource,
    { place, maxBytes, earlier, check = () => {}, signal }: NewVersion,
  ): Promise<StoredVersion> {
    const unfinished = join(versions, `unfinished-${randomBase62(8)}`);
    try {
      const list = await prepared(unfinished, { place, maxBytes, earlier: earlier?.folder }, signal);
      check(list.manifest);
      await writeFile(join(unfinished, 'source.json'), JSON.stringify(source));
      const id = `${list.token}-${randomBase62(8)}`;
      await rename(unfinished, join(versions, id));
      return taken(id, source, list, earlier?.isChecked);
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      throw error;
    }
  }

  function taken(id: string, source: BundleSource, list: VersionList, isChecked = true): StoredVersion {
    lists.keep({ id }, list);
    return { id, folder: join(versions, id), source, isChecked };
  }

  /** Prepares a version again in place, because the disk may have no space for two. If it is interrupted, the next start repeats it from the same files. */
  async function addInPlace(id: string, source: BundleSource): Promise<StoredVersion> {
    return taken(id, source, await prepared(join(versions, id), ownFiles));
  }

  async function prepared(
    at: string,
    { place, maxBytes, earlier }: Pick<VersionRequest, 'place' | 'maxBytes' | 'earlier'>,
    signal?: AbortSignal,
  ): Promise<VersionList> {
    const request = { place, folder: at, making: making(), maxBytes, earlier };
    await prepareInChild(request, signal, childMegabytes?.());
    const list = await readVersionList(at);
    if (list === undefined) throw new Error(`the list of the version in ${at} cannot be read`);
    return list;
  }

  /** Records the active version, which comes first, and those that stay. */
  async function activate([active, previous, ...earlier]: readonly Pick<StoredVersion, 'id'>[]): Promise<void> {
    const next = `${stateFile}.next`;
    const state = {
      formatVersion: 1,
      active: active?.id ?? '',
      ...(previous !== undefined && { previous: previous.id }),
      ...(earlier.length > 0 && { earlier: earlier.map(({ id }) => id) }),
    } satisfies z.input<typeof stateSchema>;
    await writeFile(next, JSON.stringify(state));
    await rename(next, stateFile);
  }

  const found: StoredVersion[] = [];
  for (const id of stored) {
    const version = await load(id);
    if (version !== undefined) found.push(version);
  }
  const isAsStored = found.length === stored.length && found.every(({ id }, at) => id === stored[at]);
  if (found.length > 0 && !isAsStored)
    await activate(found).catch((error: unknown) => {
      // The version is served although the state could not be written.
      for (const id of stored) kept.add(id);
      logger.error(`the state of the data folder cannot be written: ${messageOf(error)}`);
    });
  for (const { id } of found) kept.add(id);
  for (const name of await readdir(versions))
    if (!kept.has(name)) await rm(join(versions, name), { recursive: true, force: true });

  return {
    /** Folder of downloads until they are unpacked. */
    incoming,
    /** The version that was served when the host stopped, and those before it. If it is lost, the one before it comes first. */
    stored: found as readonly StoredVersion[],
    keeps,
    add,
    again,
    activate,
    async remove(version: StoredVersion): Promise<void> {
      lists.forget(version);
      await rm(version.folder, { recursive: true, force: true });
    },
  };
}

export type SiteFolder = Awaited<ReturnType<typeof openSiteFolder>>;

/** True if the pages of a version are made as those of the site. Pure. */
export function isMadeAs(list: Making & Pick<VersionList, 'manifest'>, making: SiteMaking): boolean {
  const { base, isAirGapped, preview } = madeAs(making, list.manifest);
  return list.base === base && list.isAirGapped === isAirGapped && isDeepStrictEqual(list.preview, preview);
}

const ownFiles = { place: { kind: 'own-files' }, maxBytes: Number.MAX_SAFE_INTEGER } as const;

const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');
