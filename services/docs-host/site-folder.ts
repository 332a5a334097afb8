import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { BundleRefused } from './bundle-refused.ts';
import { prepareInChild } from './prepare-in-child.ts';
import { type BundlePlace, isAirGapped } from './prepare-version.ts';
import { type PreparedSite, readPreparedSite, readSiteList } from './prepared-site.ts';

/** A version that can be served: its folder and its contents. */
export type StoredVersion = { id: string; folder: string; site: PreparedSite; source: BundleSource };

/** The source of a version, so that nothing is fetched twice. */
export type BundleSource = {
  /** Identity of the bundle, equal for the same bundle: a link, a file with its size and time, a job. */
  key: string;
  /** SHA-256 of the archive; undefined for an unpacked bundle. */
  sha256?: string | undefined;
};

const stateSchema = z.object({
  formatVersion: z.literal(1),
  active: z.string(),
  previous: z.string().optional(),
});

const sourceSchema = z.object({ key: z.string(), sha256: z.string().optional() });

/** The bytes of a new version. */
export type NewVersion = {
  place: BundlePlace;
  /** Size limit of the archive. */
  maxBytes: number;
  /** Throws if the version is not wanted. */
  check?: (manifest: PreparedSite['manifest']) => void;
  signal?: AbortSignal;
};

/**
 * The folder in which a host keeps its versions. `state.json` names the active one, and is replaced atomically; a version gets its name only when it
 * is complete. So a host that is killed at any time starts with a complete version, and unfinished files are removed.
 */
export async function openSiteFolder(
  folder: string,
  base: string,
  logger: Logger,
  deployment?: PreparedSite['manifest']['deployment'],
) {
  const versions = join(folder, 'versions');
  const stateFile = join(folder, 'state.json');
  const incoming = join(folder, 'incoming');
  await mkdir(versions, { recursive: true });
  for (const name of await readdir(versions))
    if (name.startsWith('unfinished-')) {
      logger.warn('the host ended while it unpacked a bundle: its files are removed, and the stored version is served');
      await rm(join(versions, name), { recursive: true, force: true });
    }
  /** Versions that stay in the folder. */
  const kept = new Set<string | undefined>();
  const state = await readState();

  /** If `state.json` is lost, or written by another program, the two newest versions replace it. */
  async function readState(): Promise<z.infer<typeof stateSchema> | undefined> {
    try {
      const text = await readFile(stateFile, 'utf8');
      return stateSchema.parse(JSON.parse(text));
    } catch (error) {
      const ids = await newestFirst();
      const [active, previous] = ids;
      if (active === undefined) return undefined;
      logger.error(
        { versions: ids },
        `the newest stored version is served, because the state cannot be read: ${messageOf(error)}`,
      );
      return { formatVersion: 1, active, ...(previous !== undefined && { previous }) };
    }
  }

  async function newestFirst(): Promise<string[]> {
    const found = (await readdir(versions)).map(async (id) => ({ id, at: (await stat(join(versions, id))).mtimeMs }));
    return (await Promise.all(found)).sort((a, b) => b.at - a.at).map(({ id }) => id);
  }

  /**
   * Reads a stored version. Returns undefined, with a line in the log, if it cannot be served. A version that was prepared for another path or
   * deployment type, or by another program, is prepared again from its files.
   */
  async function load(id: string | undefined): Promise<StoredVersion | undefined> {
    if (id === undefined) return undefined;
    const at = join(versions, id);
    try {
      const source = sourceSchema.parse(JSON.parse(await readFile(join(at, 'source.json'), 'utf8')));
      const site = await readPreparedSite(at);
      if (site?.base === base && site.isAirGapped === isAirGapped(deployment, site.manifest))
        return { id, folder: at, site, source };
      const again = { place: { kind: 'folder', path: join(at, 'files') }, maxBytes: Number.MAX_SAFE_INTEGER } as const;
      return await add(source, again).catch((error: unknown) => {
        if (!isFull(error)) throw error;
        return addInPlace(id, source);
      });
    } catch (error) {
      // A version that may be intact is kept: there was no space to prepare it again, or it could not be read now.
      if (!(error instanceof BundleRefused) && errorCode(error) !== 'ENOENT') kept.add(id);
      logger.error({ version: id }, `a stored version cannot be served: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Unpacks and prepares a version, in a child process. Its files are removed if that fails. */
  async function add(
    source: BundleSource,
    { place, maxBytes, check = () => {}, signal }: NewVersion,
  ): Promise<StoredVersion> {
    const unfinished = join(versions, `unfinished-${randomBase62(8)}`);
    try {
      const site = await prepared(unfinished, place, maxBytes, signal);
      check(site.manifest);
      await writeFile(join(unfinished, 'source.json'), JSON.stringify(source));
      const id = `${site.token}-${randomBase62(8)}`;
      await rename(unfinished, join(versions, id));
      return { id, folder: join(versions, id), site, source };
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      throw error;
    }
  }

  /** Prepares a version again in place, because the disk may have no space for two. If it is interrupted, the next start repeats it from the same files. */
  async function addInPlace(id: string, source: BundleSource): Promise<StoredVersion> {
    const at = join(versions, id);
    const site = await prepared(at, { kind: 'own-files' }, Number.MAX_SAFE_INTEGER);
    return { id, folder: at, site, source };
  }

  async function prepared(
    at: string,
    place: BundlePlace,
    maxBytes: number,
    signal?: AbortSignal,
  ): Promise<PreparedSite> {
    await prepareInChild({ place, folder: at, base, deployment, maxBytes }, signal);
    const site = await readSiteList(at);
    if (site === undefined) throw new Error(`the list of the version in ${at} cannot be read`);
    return site;
  }

  async function activate(active: string, previous: string | undefined): Promise<void> {
    const next = `${stateFile}.next`;
    await writeFile(next, JSON.stringify({ formatVersion: 1, active, ...(previous !== undefined && { previous }) }));
    await rename(next, stateFile);
  }

  const active = await load(state?.active);
  const previous = await load(state?.previous);
  const first = active ?? previous;
  const second = active === undefined ? undefined : previous;
  const isAsStored = first?.id === state?.active && second?.id === state?.previous;
  if (first !== undefined && !isAsStored)
    await activate(first.id, second?.id).catch((error: unknown) => {
      // The version is served although the state could not be written.
      for (const id of [state?.active, state?.previous]) kept.add(id);
      logger.error(`the state of the data folder cannot be written: ${messageOf(error)}`);
    });
  for (const version of [active, previous]) kept.add(version?.id);
  for (const name of await readdir(versions))
    if (!kept.has(name)) await rm(join(versions, name), { recursive: true, force: true });

  return {
    /** Folder of downloads until they are unpacked. */
    incoming,
    /** The version that was served when the host stopped, or the previous one if the active one is lost. */
    active: first,
    previous: second,
    add,
    activate,
    remove: ({ folder: gone }: StoredVersion) => rm(gone, { recursive: true, force: true }),
  };
}

export type SiteFolder = Awaited<ReturnType<typeof openSiteFolder>>;

const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');
