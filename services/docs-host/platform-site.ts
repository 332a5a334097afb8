import { existsSync, renameSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type SiteLink, siteLinkSchema } from '#shared/interfaces/http/exports.ts';
import type { ServedLogin, ServedSite } from '#shared/interfaces/http/sites.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { errorCode, messageOf, Unavailable } from '#shared/runtime/failures.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { hostedSiteSchema } from './sites-feed.ts';
import { BundleRefused, LinkRefused } from './bundle-refused.ts';
import { callPlatform } from './call-platform.ts';
import type { CopiesQueue } from './copies-queue.ts';
import { type DeploymentQueue, placesOfDeployments } from './deployment-queue.ts';
import { downloadBundle } from './download-bundle.ts';
import { fetchPieces, fetchRanges, RangesRefused } from './fetch-pieces.ts';
import type { bundleOutcomes } from './follow-bundle.ts';
import { heldIn } from './held-pieces.ts';
import type { HostedSite } from './host-app.ts';
import { missingRanges, type Piece } from './piece-ranges.ts';
import { memoryMegabytes, prepareSoon } from './prepare-in-child.ts';
import type { PiecesPlace, SiteMaking } from './prepare-version.ts';
import { type ServedVersion, type ServedVersions, servedVersions } from './served-versions.ts';
import { type BundleSource, isMadeAs, openSiteFolder, type SiteFolder, type StoredVersion } from './site-folder.ts';
import type { SitesPlatform } from './sites-settings.ts';
import { readPieceLines } from './version-list.ts';
import { DamagedVersion, type VersionLists } from './version-lists.ts';

/** Parts that all sites of a host share. */
export type SitesTools = {
  platform: SitesPlatform;
  lists: VersionLists;
  queue: DeploymentQueue;
  copies: CopiesQueue;
  logger: Logger;
  /** Aborts when the host stops. */
  signal: AbortSignal;
  /** Size limit of a bundle. */
  maxBytes: number;
  onOutcome(outcome: (typeof bundleOutcomes)[number]): void;
  /** Called with the seconds from the time a deployment was live on the platform until this host answers from it. */
  onSwapped(lagSeconds: number): void;
  retries: DeploymentRetries;
};

export type DeploymentRetries = {
  /** Pauses after calls and downloads that may succeed later. */
  unavailable: RetryPolicy;
  /** Pauses after links and bundles that were refused, because they may be repaired. */
  refused: RetryPolicy;
};

/** The pieces of a bundle, and the location of their list. */
type ListedPieces = PiecesPlace & { pieces: readonly Piece[] };

type Taking = {
  link: SiteLink;
  pieces: ListedPieces | undefined;
  /** Version whose files are used again. */
  earlier: ServedVersion | undefined;
  opened: SiteFolder;
  source: BundleSource;
  signal: AbortSignal;
};

/** Number of versions before the active one that stay on disk, so that a rollback to them needs no download. */
const keptOfLive = 5;
/** Bundles above this size take a place for large ones. */
const largeBytes = 16 * 1024 * 1024;
const megabytesOf = (isLarge: boolean): number =>
  Math.max(64, Math.floor(memoryMegabytes / (isLarge ? 2 : 2 * placesOfDeployments.small)));

/** Copy of the feed's last event about a site, stored in its folder, so that a restarted host serves the site without the platform. */
const recordSchema = z.object({
  /** 2: the site has a login. Hosts that do not check logins read only 1. */
  formatVersion: z.literal([1, 2]),
  served: hostedSiteSchema,
  /** Time of the last claim of its host names, in ms since 1970. If two sites claim one name, the later claim wins. */
  claimedAt: z.number(),
  /** Time at which the site left the feed, in ms since 1970. */
  goneAt: z.number().optional(),
});

export type SiteRecord = z.infer<typeof recordSchema>;

const recordFile = 'served.json';

/** The record in a site's folder; undefined if it has none that can be read. */
export async function readSiteRecord(folder: string): Promise<SiteRecord | undefined> {
  const text = await readFile(join(folder, recordFile), 'utf8').catch(() => '');
  return recordSchema.safeParse(jsonIn(text)).data;
}

/**
 * One site or preview of the platform. It answers from the active version in its folder, and fetches the bundles of its deployments one at a time;
 * among deployments that wait, it fetches only the newest. While a bundle cannot be fetched or is refused, the previous version stays active.
 */
export function platformSite(folder: string, first: SiteRecord, tools: SitesTools) {
  const { lists, queue, logger, platform, retries } = tools;
  let record = first;
  let parts: { folder: SiteFolder; versions: ServedVersions } | undefined;
  let opening: Promise<NonNullable<typeof parts>> | undefined;
  /** Aborts when the site leaves the feed. */
  let leave = new AbortController();
  /** Aborts when a deployment begins, because it must not wait for copies of the version before it. */
  let copying = new AbortController();
  let failed = 0;
  let retry: NodeJS.Timeout | undefined;
  let problem: string | undefined;
  /** Ids of damaged versions. */
  const damaged = new Set<string>();
  /** True if the current deployment was announced while the feed was followed, so that its lag can be measured. */
  let isAnnounced = false;
  let saved: Promise<void> = Promise.resolve();
  let writtenLogin = JSON.stringify(first.served.login);

  const hosted: HostedSite = {
    versions: {
      active: () => parts?.versions.active(),
      older: () => parts?.versions.older() ?? [],
    },
    get id() {
      return record.served.site;
    },
    get login() {
      return record.served.login;
    },
    get keptBy() {
      return record.served.login === undefined ? 'public' : 'private';
    },
    get siteUrl() {
      return record.served.address;
    },
    get isPreview() {
      return record.served.label !== undefined;
    },
    get asks() {
      const { organization, domain, hosts, label, assistant } = record.served;
      // The platform answers from the live content, which must not appear on a preview.
      return assistant === true && label === undefined ? { organization, domain, hosts } : undefined;
    },
    get counted() {
      const { site, hosts, label, counts } = record.served;
      return counts === true && label === undefined ? { site, hosts } : undefined;
    },
    onDamaged,
  };

  function making(): SiteMaking {
    const { label, liveSince } = record.served;
    return {
      base: '',
      ...(label !== undefined && { preview: { label, date: liveSince.slice(0, 'yyyy-mm-dd'.length) } }),
    };
  }

  /** Opens the folder, once. */
  function open(): Promise<NonNullable<typeof parts>> {
    opening ??= openSiteFolder(folder, {
      making,
      lists,
      logger: logger.child({ site: record.served.site }),
      keeps: record.served.label === undefined ? keptOfLive : 0,
      childMegabytes: () => megabytesOf(isLarge()),
      isLazy: true,
    }).then(
      (opened) => (parts = { folder: opened, versions: servedVersions(opened) }),
      (error: unknown) => {
        opening = undefined;
        throw error;
      },
    );
    return opening;
  }

  const isLarge = (): boolean => record.served.sizeBytes > largeBytes;

  /**
   * Stores the record, after earlier writes. If that fails, the site is served nevertheless, and a restarted host has the older record. An older
   * record with another login is removed, because the host must not open the site before it reads the feed.
   */
  function save(): void {
    saved = saved.then(writeRecord).catch(async (error: unknown) => {
      logger.error({ site: record.served.site }, `the record of a site cannot be written: ${messageOf(error)}`);
      if (JSON.stringify(record.served.login) !== writtenLogin)
        await rm(join(folder, recordFile), { force: true }).catch(() => {});
    });
  }

  async function writeRecord(): Promise<void> {
    const { login } = record.served;
    const text = JSON.stringify({ ...record, formatVersion: login === undefined ? 1 : 2 });
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${recordFile}.next`), text);
    await rename(join(folder, `${recordFile}.next`), join(folder, recordFile));
    writtenLogin = JSON.stringify(login);
  }

  const isServed = ({ id, source }: ServedVersion): boolean =>
    source.sha256 === record.served.sha256 && !damaged.has(id);

  /** Adds the site to the queue if it does not serve its deployment. */
  function deploySoon(): void {
    const { site, organization } = record.served;
    if (record.goneAt !== undefined || tools.signal.aborted) return;
    queue.add({ site, organization, isLarge: isLarge(), run: deploy });
  }

  async function deploy(): Promise<void> {
    clearTimeout(retry);
    copying.abort(new Error('a deployment begins'));
    const { served } = record;
    const signal = AbortSignal.any([tools.signal, leave.signal]);
    if (signal.aborted) return;
    const startedAt = performance.now();
    try {
      const { versions } = await open();
      const active = versions.active();
      if (active !== undefined && isServed(active) && (await isReady(active))) return copySoon();
      const how = (await lead(served)) ? 'kept' : await take(served, signal);
      if (how === 'not wanted') return;
      failed = 0;
      problem = undefined;
      const { site, deployment, contentVersion } = served;
      logger.info(
        { site, deployment, contentVersion, how, ms: Math.round(performance.now() - startedAt) },
        'a deployment is served',
      );
      tools.onOutcome('taken');
      if (isAnnounced) tools.onSwapped(Math.max(0, (Date.now() - Date.parse(served.liveSince)) / 1_000));
      copySoon();
    } catch (error) {
      if (signal.aborted) return;
      await onFailure(error);
    }
  }

  /** Has the copies made that the served version lacks. Until then, answers are compressed for each reader. */
  function copySoon(): void {
    tools.copies.add(record.served.site, addCopies);
  }

  /** Makes one step of the copies that the served version lacks. Returns true if more may be lacking. */
  async function addCopies(): Promise<boolean> {
    const version = parts?.versions.active();
    if (parts === undefined || version === undefined || queue.isRunning(record.served.site)) return false;
    copying = new AbortController();
    const signal = AbortSignal.any([tools.signal, leave.signal, copying.signal]);
    if (damaged.has(version.id) || (await lists.of(version)).lacksCopies !== true) return false;
    try {
      const next = await parts.folder.withCopies(version, signal);
      await parts.versions.replace(version, next);
      return true;
    } catch (error) {
      // If a deployment aborted this, its version gets its copies after it.
      if (signal.aborted) return false;
      throw error;
    }
  }

  /** Activates a stored version of this deployment's bundle. Returns false if none can be read and is prepared for this site. */
  async function lead(served: ServedSite): Promise<boolean> {
    const { folder: opened, versions } = await open();
    for (const version of versions.all()) {
      if (version.source.sha256 !== served.sha256) continue;
      if (!damaged.has(version.id) && (await isReady(version)) && (await versions.reuse(({ id }) => id === version.id)))
        return true;
      // The version has the date of an earlier preview, or is by another program, or its prepared files are damaged. The files of its bundle may be
      // intact.
      if (record.served !== served) return false;
      const repaired = await opened.again(version).catch((error: unknown) => {
        logger.warn({ version: version.id }, `a stored version cannot be prepared again: ${messageOf(error)}`);
        return undefined;
      });
      if (repaired === undefined) continue;
      await versions.swap(repaired, version);
      damaged.delete(version.id);
      return true;
    }
    return false;
  }

  const isReady = async (version: ServedVersion): Promise<boolean> =>
    await Promise.resolve(lists.of(version)).then(
      (list) => isMadeAs(list, making()),
      (error: unknown) => {
        if (error instanceof DamagedVersion || error instanceof BundleRefused) return false;
        throw error;
      },
    );

  /** Downloads and prepares the bundle of a deployment, and activates it. */
  async function take(served: ServedSite, signal: AbortSignal): Promise<'downloaded' | 'ranges' | 'not wanted'> {
    const { folder: opened, versions } = await open();
    const megabytes = megabytesOf(isLarge());
    prepareSoon(megabytes);
    const { site, jobId, sha256, sizeBytes } = served;
    if (sizeBytes > tools.maxBytes)
      throw new BundleRefused(`the bundle has ${sizeBytes} bytes, more than BINDERY_MAX_BUNDLE_MB allows`);
    const link = await callPlatform({
      platform,
      path: '/v1/sites/links',
      method: 'POST',
      body: { site, jobId },
      schema: siteLinkSchema,
      settingsOf,
      signal,
    });
    if (link.sha256 !== sha256 || link.sizeBytes !== sizeBytes)
      throw new Unavailable('the platform signed a link to another bundle than it announced');
    const active = versions.active();
    // A damaged file must not be used again.
    const earlier = active === undefined || damaged.has(active.id) ? undefined : active;
    const source = { key: `job ${jobId}`, sha256 };
    const pieces = await piecesOf(link, opened.incoming, signal);
    const ofRanges =
      earlier === undefined || pieces === undefined
        ? undefined
        : await takeRanges({ link, pieces, earlier, opened, source, signal });
    const next = ofRanges ?? (await takeWhole({ link, pieces, earlier, opened, source, signal }));
    await rm(opened.incoming, { recursive: true, force: true });
    // A rollback, or the removal of the site, came while this bundle was prepared: it must not appear even for a moment.
    const isHere = ({ source }: StoredVersion): boolean => source.sha256 === record.served.sha256;
    if (signal.aborted || (record.served !== served && versions.all().some(isHere))) {
      await opened.remove(next);
      return 'not wanted';
    }
    await versions.swap(next);
    return ofRanges === undefined ? 'downloaded' : 'ranges';
  }

  /** Downloads the whole bundle, or the rest of it if an earlier download broke off. */
  async function takeWhole({ link, pieces, earlier, opened, source, signal }: Taking): Promise<StoredVersion> {
    const { sha256, sizeBytes } = link;
    const maxBytes = Math.min(tools.maxBytes, sizeBytes);
    const folder = join(opened.incoming, 'whole');
    const { file } = await downloadBundle(link.bundleUrl, folder, { sha256, sizeBytes }, { maxBytes, signal });
    try {
      const { list, manifestSha256 } = pieces ?? {};
      const place = {
        kind: 'archive',
        file,
        ...(list !== undefined && manifestSha256 !== undefined && { pieces: { list, manifestSha256 } }),
      } as const;
      return await opened.add(source, { place, maxBytes: tools.maxBytes, earlier, copies: 'later', signal });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** The list of the bundle's pieces; undefined if there is none, and then the bundle is taken whole. */
  async function piecesOf(
    { pieces }: SiteLink,
    incoming: string,
    signal: AbortSignal,
  ): Promise<ListedPieces | undefined> {
    if (pieces === undefined) return undefined;
    try {
      return { ...(await fetchPieces(pieces, incoming, signal)), manifestSha256: pieces.manifestSha256 };
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ site: record.served.site }, `a bundle is downloaded without its pieces: ${messageOf(error)}`);
      return undefined;
    }
  }

  /**
   * Fetches the ranges of a bundle that the earlier version does not have, and prepares it from both. Undefined if the whole bundle is to be downloaded: most
   * of it changed, or the ranges and the stored files did not make the bundle that the platform recorded.
   */
  async function takeRanges({
    link,
    pieces: { list, manifestSha256, pieces },
    earlier,
    opened,
    source,
    signal,
  }: Taking & { pieces: ListedPieces; earlier: ServedVersion }): Promise<StoredVersion | undefined> {
    const { site } = record.served;
    const { sizeBytes } = link;
    const known = await readPieceLines(earlier.folder, earlier.content).catch(() => undefined);
    if (known === undefined) return undefined;
    const ranges = missingRanges(pieces, heldIn(known), sizeBytes);
    if (ranges === undefined) return undefined;
    try {
      const file = await fetchRanges(link.bundleUrl, opened.incoming, ranges, sizeBytes, signal);
      const place = { kind: 'pieces', file, ranges, pieces: { list, manifestSha256 } } as const;
      const next = await opened.add(source, { place, maxBytes: tools.maxBytes, earlier, copies: 'later', signal });
      const fetchedBytes = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
      logger.info(
        { site, sizeBytes, fetchedBytes, ranges: ranges.length },
        'the changed ranges of a bundle were fetched',
      );
      return next;
    } catch (error) {
      signal.throwIfAborted();
      if (errorCode(error) === 'ENOSPC') throw error;
      const isExpected =
        error instanceof RangesRefused || error instanceof BundleRefused || error instanceof Unavailable;
      const err = isExpected ? undefined : error;
      logger.warn(
        { site, err },
        `a bundle is downloaded whole, because its ranges were not usable: ${messageOf(error)}`,
      );
      return undefined;
    }
  }

  async function onFailure(error: unknown): Promise<void> {
    failed += 1;
    const isFinal = error instanceof BundleRefused;
    const { site, deployment } = record.served;
    try {
      await fallBack();
    } catch (failure) {
      // A full disk also has no space to record another active version.
      logger.warn({ site }, `an earlier version cannot be served either: ${messageOf(failure)}`);
    }
    const stays = hosted.versions.active() === undefined ? 'Nothing is served' : 'The version that was served stays';
    const why = errorCode(error) === 'ENOSPC' ? 'there is no disk space for a new version' : messageOf(error);
    const said = `${stays}: ${why.replace(/\.$/, '')}.`;
    // A repeated message is logged once, because the same line every minute would hide others.
    if (said !== problem)
      logger[isFinal ? 'error' : 'warn'](
        { site, deployment, err: isFinal || error instanceof Unavailable ? undefined : error },
        said,
      );
    problem = said;
    tools.onOutcome(isFinal ? 'refused' : 'unavailable');
    // A bundle that is refused is not downloaded again each minute.
    const policy =
      isFinal && !(error instanceof LinkRefused)
        ? onlyAfter(retries.refused.longestPauseMs)
        : isFinal
          ? retries.refused
          : retries.unavailable;
    const pauseMs = pauseAfter(failed, policy) * (0.75 + Math.random() / 4);
    retry = setTimeout(deploySoon, pauseMs).unref();
    copySoon();
  }

  /** Answers from an earlier version while the list of the active one is lost, until its bundle is downloaded again. */
  async function fallBack(): Promise<void> {
    const active = parts?.versions.active();
    if (parts === undefined || active === undefined || (await isReadable(active))) return;
    for (const version of parts.versions.all()) {
      if (version === active || !(await isReadable(version))) continue;
      await parts.versions.reuse(({ id }) => id === version.id);
      return;
    }
  }

  const isReadable = async (version: ServedVersion): Promise<boolean> =>
    await Promise.resolve(lists.of(version)).then(
      () => true,
      (error: unknown) => !(error instanceof DamagedVersion),
    );

  function onDamaged(version: string): void {
    if (damaged.has(version)) return;
    damaged.add(version);
    logger.error(
      { site: record.served.site, version },
      'a stored version is damaged; it is prepared again if it is needed',
    );
    deploySoon();
  }

  return {
    hosted,
    record: () => record,
    open,
    problem: () => problem,
    /** Applies an event of the feed about the site. `announced`: the event came after the feed had named all sites. */
    apply(served: ServedSite, announced: boolean): void {
      const { sha256, jobId, hosts } = record.served;
      const isNew = sha256 !== served.sha256 || jobId !== served.jobId || record.goneAt !== undefined;
      const hasOtherDay = record.served.label !== undefined && record.served.liveSince !== served.liveSince;
      const isClaim = record.goneAt !== undefined || hosts.join() !== served.hosts.join();
      if (!isNew && JSON.stringify(record.served) === JSON.stringify(served)) return;
      if (record.goneAt !== undefined) leave = new AbortController();
      const { goneAt: _, ...kept } = record;
      record = { ...kept, served, ...(isClaim && { claimedAt: Date.now() }) };
      save();
      if (!isNew && !hasOtherDay) return;
      failed = 0;
      problem = undefined;
      isAnnounced = announced;
      deploySoon();
      leadBack(served);
    },
    /** Applies the login of an event whose other parts cannot be read. */
    close(login: ServedLogin): void {
      record = { ...record, served: { ...record.served, login } };
      save();
    },
    /** Starts the first deployment of a site that is new to this host. */
    begin(announced: boolean): void {
      isAnnounced = announced;
      save();
      deploySoon();
    },
    /** Reads the list of the active version. Deploys again if that version is of another deployment, or was prepared in another way. */
    async check(): Promise<void> {
      const active = parts?.versions.active();
      const isRight = active !== undefined && isServed(active) && (await isReady(active).catch(() => false));
      if (isRight) copySoon();
      else deploySoon();
    },
    /** Stops serving the site. Its folder stays for a while, because the site may return. */
    end(): void {
      if (record.goneAt !== undefined) return;
      record = { ...record, goneAt: Date.now() };
      save();
      clearTimeout(retry);
      queue.remove(record.served.site);
      tools.copies.remove(record.served.site);
      leave.abort(new Error('the site is gone'));
    },
    /**
     * Renames the folder of a site that left the feed, and returns the new path, so that the caller can remove it; undefined if the site returned, or
     * its deployment has not ended yet. The site must not be used afterwards. The rename frees the path for a later site of the same name.
     */
    async moveAway(): Promise<string | undefined> {
      await saved;
      if (record.goneAt === undefined || queue.isRunning(record.served.site)) return undefined;
      for (const version of parts?.versions.all() ?? []) lists.forget(version);
      const away = `${folder}.gone-${randomBase62(8)}`;
      if (existsSync(folder)) renameSync(folder, away);
      return away;
    },
    sweep: async (): Promise<void> => {
      if (parts?.versions.isToSweep() === true) await parts.versions.sweep();
    },
    /** Resolves when all events about the site are stored. */
    saved: () => saved,
  };

  /** Rolls back to a stored version at once, even while the bundle of another deployment is prepared. */
  function leadBack({ sha256 }: ServedSite): void {
    if (!queue.isRunning(record.served.site) || parts === undefined) return;
    const { versions } = parts;
    const kept = versions.all().find((version) => version.source.sha256 === sha256 && !damaged.has(version.id));
    if (kept === undefined || kept === versions.active()) return;
    isReady(kept)
      .then(
        async (ready) => ready && record.served.sha256 === sha256 && (await versions.reuse(({ id }) => id === kept.id)),
      )
      .catch((error: unknown) => logger.warn(`a rollback could not be carried out: ${messageOf(error)}`));
  }
}

export type PlatformSite = ReturnType<typeof platformSite>;

const onlyAfter = (pauseMs: number): RetryPolicy => ({ firstPauseMs: pauseMs, longestPauseMs: pauseMs });

/** The settings to check, by the status of a refusal. */
const settingsOf: Readonly<Record<number, string>> = { 401: 'BINDERY_SITES_KEY', 403: 'BINDERY_SITES_KEY' };
