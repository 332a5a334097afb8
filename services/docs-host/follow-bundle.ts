import { createHash } from 'node:crypto';
import { lstat, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { errorCode, messageOf, Unavailable } from '#shared/runtime/failures.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { BundleOrigin, DocsHostConfig } from './config.ts';
import { BundleRefused, LinkRefused } from './bundle-refused.ts';
import { downloadBundle, type ExpectedBundle } from './download-bundle.ts';
import { newestExport } from './newest-export.ts';
import type { ServedVersions } from './served-versions.ts';
import type { BundlePlace } from './prepare-version.ts';
import { sha256OfFile } from './read-regular-file.ts';
import type { SiteFolder, StoredVersion } from './site-folder.ts';
import type { VersionList } from './version-list.ts';
import type { VersionLists } from './version-lists.ts';

/** A bundle to serve, before its download. */
type Wanted = {
  key: string;
  expected: ExpectedBundle;
  link?: () => Promise<{ url: string; expected: ExpectedBundle }>;
  mounted?: string;
};

/** A version that is served now. */
type Taken = { id: string } & VersionList['manifest'];

/** Outcomes of a check. A check that found no newer bundle is not counted. */
export const bundleOutcomes = ['taken', 'refused', 'unavailable'] as const;

const downloadRetries: RetryPolicy = { firstPauseMs: 1_000, longestPauseMs: 60_000 };
/** Time after which a refused bundle is tried again although it seems unchanged, because it may have been repaired. */
const refusedAgainMs = 600_000;

/** Checks for newer versions while the host runs: downloads, unpacks and serves them. If that fails, the served version stays, and `problem` says why. */
export function followBundle(
  origin: BundleOrigin,
  config: Pick<DocsHostConfig, 'version' | 'sha256' | 'checkSeconds' | 'maxBundleMegabytes'>,
  {
    folder,
    versions,
    lists,
    logger,
    signal,
    onOutcome = () => {},
    retries = downloadRetries,
  }: {
    folder: SiteFolder;
    versions: ServedVersions;
    lists: VersionLists;
    logger: Logger;
    signal: AbortSignal;
    onOutcome?: (outcome: (typeof bundleOutcomes)[number]) => void;
    retries?: RetryPolicy;
  },
) {
  /** The reason why the newest version is not served; undefined if there is no problem. */
  let problem: string | undefined;
  /** The bundle that was refused last, until it is tried again. */
  let refused: { key: string; why: BundleRefused; until: number } | undefined;
  const now = () => performance.now();
  const maxBytes = config.maxBundleMegabytes * 1_000_000;

  async function wanted(): Promise<Wanted | undefined> {
    const { sha256 } = config;
    if (origin.kind === 'none') return undefined;
    if (origin.kind === 'link') {
      const { url } = origin;
      const expected = { sha256 };
      return { key: `link ${sha256Of(url)} ${sha256 ?? ''}`, expected, link: async () => ({ url, expected }) };
    }
    if (origin.kind === 'mounted')
      return { key: `mounted ${await mark(origin.path)} ${sha256 ?? ''}`, expected: { sha256 }, mounted: origin.path };
    const { jobId, link } = await newestExport(origin, config.version, signal);
    return { key: `job ${jobId} ${sha256 ?? ''}`, expected: { sha256 }, link };
  }

  /** One check: afterwards the wanted version is served. Returns the new version's manifest; undefined if there is none. */
  async function look(): Promise<Taken | undefined> {
    const found = await wanted();
    const active = versions.active();
    if (found === undefined) return undefined;
    const isServed =
      active?.source.key === found.key ||
      (found.expected.sha256 !== undefined && active?.source.sha256 === found.expected.sha256);
    if (isServed) {
      if (active !== undefined) checkVersion((await lists.of(active)).manifest.label);
      return undefined;
    }
    // The files of a mounted folder may arrive after its manifest. A refused folder is tried again when its files have changed.
    const tried = found.mounted === undefined ? found.key : `${found.key} ${await filesMark(found.mounted)}`;
    if (refused?.key === tried && now() < refused.until) throw refused.why;
    try {
      const next = await take(found);
      await versions.swap(next);
      return { id: next.id, ...(await lists.of(next)).manifest };
    } catch (error) {
      // A refused bundle is remembered, because it would be downloaded and refused again at each check.
      if (error instanceof BundleRefused && !(error instanceof LinkRefused))
        refused = { key: tried, why: error, until: now() + refusedAgainMs };
      throw error;
    }
  }

  async function take({ key, link, mounted, expected }: Wanted): Promise<StoredVersion> {
    if (mounted !== undefined) {
      const isFolder = (await stat(mounted)).isDirectory();
      const sha256 = isFolder ? undefined : await sha256OfFile(mounted, maxBytes);
      if (expected.sha256 !== undefined && sha256 !== expected.sha256) {
        const has = isFolder ? 'is a folder, which has none' : `has ${sha256}`;
        throw new BundleRefused(`the bundle must have the SHA-256 ${expected.sha256}, but ${mounted} ${has}`);
      }
      return await store(
        { key, sha256 },
        isFolder ? { kind: 'folder', path: mounted } : { kind: 'archive', file: mounted, sha256 },
      );
    }
    if (link === undefined) throw new Error('the bundle has neither a link nor a path');
    const signed = await link();
    // A digest in the settings takes precedence over the digest from the platform.
    const both = { ...signed.expected, ...(expected.sha256 !== undefined && { sha256: expected.sha256 }) };
    const { file, sha256 } = await downloadBundle(signed.url, folder.incoming, both, { maxBytes, signal });
    try {
      return await store({ key, sha256 }, { kind: 'archive', file });
    } finally {
      await rm(folder.incoming, { recursive: true, force: true });
    }
  }

  const store = (source: StoredVersion['source'], place: BundlePlace) =>
    folder.add(source, {
      place,
      maxBytes,
      earlier: versions.active(),
      check: ({ label }) => checkVersion(label),
      signal,
    });

  function checkVersion(label: string | undefined): void {
    const { version } = config;
    if (version === undefined || label === version) return;
    const has = label === undefined ? 'has no version' : `is of the version "${label}"`;
    throw new BundleRefused(`BINDERY_STATIC_EXPORT_VERSION is "${version}", but the bundle ${has}`);
  }

  /** Ends when the signal aborts. */
  async function follow(): Promise<void> {
    for (let failed = 0; !signal.aborted; ) {
      let pauseMs = config.checkSeconds * 1_000;
      try {
        const taken = await look();
        if (problem !== undefined) logger.info('newer bundles can be fetched again');
        problem = undefined;
        failed = 0;
        if (taken !== undefined) {
          const { id: version, label, contentVersion: content } = taken;
          logger.info({ version, label, content }, 'a new version is served');
          onOutcome('taken');
        }
        await versions.sweep();
        // A fixed link cannot be checked for newer bundles: its bundle is served until the process is restarted.
        if (origin.kind === 'link' || origin.kind === 'none') return;
      } catch (error) {
        if (signal.aborted) return;
        failed += 1;
        const isFinal = error instanceof BundleRefused;
        const said = sentenceOf(error);
        // A repeated message is logged once, because the same line every minute would hide others.
        if (said !== problem)
          logger[isFinal ? 'error' : 'warn'](
            { err: isFinal || error instanceof Unavailable ? undefined : error },
            said,
          );
        problem = said;
        onOutcome(isFinal ? 'refused' : 'unavailable');
        pauseMs = isFinal ? (origin.kind === 'link' ? refusedAgainMs : pauseMs) : pauseAfter(failed, retries);
      }
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  const sentenceOf = (error: unknown): string => {
    const stays = versions.active() === undefined ? 'Nothing is served' : 'The version that was served stays';
    const why = errorCode(error) === 'ENOSPC' ? 'there is no disk space for a new version' : messageOf(error);
    return `${stays}: ${why.replace(/\.$/, '')}.`;
  };

  return { look, follow, problem: () => problem };
}

/** A mark that changes when a mounted bundle is replaced, found without reading it. Rejects with `Unavailable` while there is none. */
async function mark(path: string): Promise<string> {
  let isFolder = false;
  try {
    const top = await stat(path);
    isFolder = top.isDirectory();
    const marked = isFolder ? await stat(join(path, '_bindery/manifest.json')) : top;
    const { size, mtimeMs, ino } = marked;
    return `${path} ${size} ${mtimeMs} ${ino}`;
  } catch (error) {
    const why =
      isFolder && errorCode(error) === 'ENOENT'
        ? 'the folder has no _bindery/manifest.json: name the folder inside that has it'
        : messageOf(error);
    throw new Unavailable(`there is no bundle at ${path} (${why})`, { cause: error });
  }
}

/** A mark that changes when a file of a mounted folder is added, changed or removed, found without reading files. It is empty for an archive. */
async function filesMark(path: string): Promise<string> {
  const hash = createHash('sha256');
  const add = async (folder: string): Promise<void> => {
    for (const name of (await readdir(folder)).sort()) {
      const file = join(folder, name);
      const found = await lstat(file).catch(() => undefined);
      hash.update(`${file} ${found?.size} ${found?.mtimeMs} ${found?.ino}\n`);
      if (found?.isDirectory() === true) await add(file);
    }
  };
  if (!(await stat(path)).isDirectory()) return '';
  await add(path);
  return hash.digest('hex');
}
