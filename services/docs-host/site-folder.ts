import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import { manifestPath } from '#shared/export/bundle/verify-bundle.ts';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { BundleRefused } from './bundle-refused.ts';
import { configPath } from './hosted-types.ts';
import { prepareInChild, sweepInChild } from './prepare-in-child.ts';
import { type BundleFacts, type BundlePlace, madeAs, type SiteMaking, type VersionRequest } from './prepare-version.ts';
import { type CopiesMade, readPreparedSite } from './prepared-site.ts';
import { removeMade, sweepContent, type SweepRequest } from './sweep-content.ts';
import { headFile, listBytes, type Making, readVersionList, type VersionList } from './version-list.ts';
import type { VersionLists } from './version-lists.ts';

/** A version that can be served. */
export type StoredVersion = {
  id: string;
  folder: string;
  /** Folder with the bytes of all versions of its site. */
  content: string;
  source: BundleSource;
  /** True if this process has checked every byte of it. Files of other versions are checked when they are read. */
  isChecked: boolean;
};

/** The origin of a version, by which a later download of the same bundle is recognized. */
export type BundleSource = {
  /** Identity of the bundle, equal for the same bundle: a link, a file with its size and time, a job. */
  key: string;
  /** SHA-256 of the archive; undefined for an unpacked bundle. */
  sha256?: string | undefined;
  /** The files that its manifest does not list. Versions of earlier programs have their unpacked bundle instead. */
  bundle?: BundleFacts | undefined;
};

const storedBytes = z.object({ size: z.int().min(0), sha256: sha256Hex });
const sourceSchema = z.object({
  key: z.string(),
  sha256: z.string().optional(),
  bundle: z.object({ manifest: storedBytes, config: storedBytes.optional() }).optional(),
});

const stateSchema = z.object({
  formatVersion: z.literal(1),
  active: z.string(),
  previous: z.string().optional(),
  /** Further versions that are kept, the last active one first. */
  earlier: z.array(z.string()).default([]),
});

/** The bytes of a new version, and rules for them. */
export type NewVersion = {
  place: BundlePlace;
  /** Size limit of the archive. */
  maxBytes: number;
  /** Version before this one. Its files are reused if they are unchanged. */
  earlier?: StoredVersion | undefined;
  /** Throws if a version with this manifest must not be used. */
  check?: (manifest: VersionList['manifest']) => void;
  /** Time at which its compressed copies are made; by default with it. */
  copies?: CopiesMade;
  signal?: AbortSignal;
};

export type SiteFolderOptions = {
  /** Describes how pages are made. The result may change while the folder is open. */
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
 *
 * `content` has the bytes of all versions by their SHA-256. A file there that no list names is left only while there is an unfinished version, or one in
 * `removed`: a host that finds one at its start removes such files. Versions are prepared and removed one at a time, because a new version relies on files
 * of the one before.
 */
export async function openSiteFolder(
  folder: string,
  { making, lists, logger, keeps = 1, childMegabytes, isLazy = false }: SiteFolderOptions,
) {
  const versions = join(folder, 'versions');
  const removed = join(folder, 'removed');
  const content = join(folder, 'content');
  const stateFile = join(folder, 'state.json');
  const incoming = join(folder, 'incoming');
  await mkdir(versions, { recursive: true });
  const unfinishedBefore = (await readdir(versions)).filter((name) => name.startsWith('unfinished-'));
  if (unfinishedBefore.length > 0)
    logger.warn('the host ended while it unpacked a bundle: its files are removed, and the stored version is served');
  let turns: Promise<unknown> = Promise.resolve();

  /** Runs one preparation or removal at a time. */
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const ran = turns.then(run);
    turns = ran.catch(() => {});
    return ran;
  }
  /** Ids of versions that stay in the folder. */
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
      const version = { id, folder: at, content, source, isChecked: false };
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
    const list = await readPreparedSite(version.folder, content);
    if (list === undefined || !isMadeAs(list, making())) return await again(version);
    lists.keep(version, list);
    return { ...version, isChecked: true };
  }

  /** Prepares a version again from the files of its bundle. Rejects with `BundleRefused` if they are damaged. */
  async function again({ id, folder: at, source }: StoredVersion): Promise<StoredVersion> {
    const { bundle } = source;
    const place: BundlePlace =
      bundle === undefined ? { kind: 'unpacked', path: join(at, 'files') } : { kind: 'stored', version: at, bundle };
    const request = { place, maxBytes: Number.MAX_SAFE_INTEGER };
    return await add(source, request).catch((error: unknown) => {
      if (!isFull(error)) throw error;
      return inTurn(() => addInPlace(id, source, request));
    });
  }

  /** Unpacks and prepares a version, in a child process. Its files are removed if that fails. */
  const add = (source: BundleSource, next: NewVersion): Promise<StoredVersion> => inTurn(() => addNow(source, next));

  async function addNow(
    source: BundleSource,
    { place, maxBytes, earlier, check = () => {}, copies, signal }: NewVersion,
  ): Promise<StoredVersion> {
    const unfinished = join(versions, `unfinished-${randomBase62(8)}`);
    await mkdir(unfinished, { recursive: true });
    try {
      const list = await prepared(unfinished, { place, maxBytes, earlier: earlier?.folder, copies }, signal);
      check(list.manifest);
      const id = `${list.token}-${randomBase62(8)}`;
      const whole = await writeSource(unfinished, source, list);
      await rename(unfinished, join(versions, id));
      // The files and parts that the version before had were not read, if the bundle was fetched in pieces.
      return taken(id, whole, list, place.kind === 'pieces' ? false : earlier?.isChecked);
    } catch (error) {
      // The head of the list is written before files are moved into the content.
      if (existsSync(join(unfinished, headFile))) await sweep();
      await rm(unfinished, { recursive: true, force: true });
      throw error;
    }
  }

  async function writeSource(at: string, { key, sha256 }: BundleSource, list: VersionList): Promise<BundleSource> {
    const bytesOf = (path: string) => {
      const file = list.file(path);
      return file && (file.source ?? { size: file.size, sha256: file.sha256 });
    };
    const manifest = bytesOf(manifestPath);
    if (manifest === undefined) throw new Error('the list of a version has no manifest');
    const source = { key, sha256, bundle: { manifest, config: bytesOf(configPath) } };
    await writeFile(join(at, 'source.json'), JSON.stringify(source));
    return source;
  }

  function taken(id: string, source: BundleSource, list: VersionList, isChecked = true): StoredVersion {
    lists.keep({ id }, list);
    return { id, folder: join(versions, id), content, source, isChecked };
  }

  /** Prepares a version again in place, because the disk may have no space for two. If it is interrupted, the next start repeats it from the same files. */
  async function addInPlace(id: string, source: BundleSource, { place, maxBytes }: NewVersion): Promise<StoredVersion> {
    const at = join(versions, id);
    await removeMade(at, content, source.bundle, await foldersHere(id));
    const list = await prepared(at, { place, maxBytes });
    const whole = await writeSource(at, source, list);
    await rm(join(at, 'files'), { recursive: true, force: true });
    return taken(id, whole, list);
  }

  /** Folders of all complete versions, including those that are not loaded. `without`: id of a version to leave out. */
  const foldersHere = async (without?: string): Promise<string[]> =>
    (await readdir(versions))
      .filter((name) => !name.startsWith('unfinished-') && name !== without)
      .map((name) => join(versions, name));

  /** Lists up to this size are read in this process, in some milliseconds; larger ones in a child. */
  const mostReadHere = 1024 * 1024;

  /**
   * Removes the files of removed versions. Without `gone`, removes every file that no version names. Returns false and logs the error if that failed;
   * the next start repeats it.
   */
  async function sweep(gone?: readonly string[]): Promise<boolean> {
    try {
      const request: SweepRequest = { content, kept: await foldersHere(), gone };
      const sizes = await Promise.all([...request.kept, ...(gone ?? [])].map(listBytes));
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      await (bytes <= mostReadHere ? sweepContent(request) : sweepInChild(request, childMegabytes?.()));
      return true;
    } catch (error) {
      logger.warn(`files that no version needs cannot be removed: ${messageOf(error)}`);
      return false;
    }
  }

  async function moveAway(name: string): Promise<string> {
    const away = join(removed, name);
    await mkdir(removed, { recursive: true });
    await rename(join(versions, name), away).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error;
    });
    return away;
  }

  /** Moves a version out of the folder of versions, and removes its files when no version is being prepared. */
  async function removeVersion(id: string): Promise<void> {
    const away = await moveAway(id);
    void inTurn(async () => {
      if (await sweep([away])) await rm(away, { recursive: true, force: true });
    }).catch((error: unknown) => logger.warn(`a version cannot be removed: ${messageOf(error)}`));
  }

  async function prepared(
    at: string,
    { place, maxBytes, earlier, copies }: Pick<VersionRequest, 'place' | 'maxBytes' | 'earlier' | 'copies'>,
    signal?: AbortSignal,
  ): Promise<VersionList> {
    const request = { place, folder: at, content, making: making(), maxBytes, earlier, copies };
    await prepareInChild(request, signal, childMegabytes?.());
    const list = await readVersionList(at, content, lists.shard);
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
  for (const name of await readdir(versions)) if (!kept.has(name)) await moveAway(name);
  const leftOver = await readdir(removed).catch(() => []);
  if (leftOver.length > 0 && (await sweep())) {
    // A process that wrote into these folders ends soon after its host, and may still add a file.
    for (const name of leftOver)
      await rm(join(removed, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }

  return {
    /** Folder of downloads until they are unpacked. */
    incoming,
    /** The version that was served when the host stopped, and those before it. If the first is lost, the next one takes its place. */
    stored: found as readonly StoredVersion[],
    keeps,
    add,
    again,
    /** Prepares a version again with more of the compressed copies that it lacks. Rejects with the reason of `signal`. */
    withCopies: (version: StoredVersion, signal: AbortSignal): Promise<StoredVersion> =>
      add(version.source, {
        place: { kind: 'without copies', version: version.folder },
        maxBytes: Number.MAX_SAFE_INTEGER,
        earlier: version,
        signal,
      }),
    activate,
    async remove(version: StoredVersion): Promise<void> {
      lists.forget(version);
      await removeVersion(version.id);
    },
    /** Resolves when the files of all removed versions are removed. */
    swept: async (): Promise<void> => void (await turns),
  };
}

export type SiteFolder = Awaited<ReturnType<typeof openSiteFolder>>;

/** True if the pages of a version are made as those of the site. Pure. */
export function isMadeAs(list: Making & Pick<VersionList, 'manifest'>, making: SiteMaking): boolean {
  const { base, isAirGapped, preview } = madeAs(making, list.manifest);
  return list.base === base && list.isAirGapped === isAirGapped && isDeepStrictEqual(list.preview, preview);
}

const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');
