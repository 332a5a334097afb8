import { manifestPath, maxManifestBytes } from '#shared/export/bundle/verify-bundle.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { BundleRefused } from './bundle-refused.ts';
import { compareChanges, entryOf, type ManifestChanges, manifestChanges } from './compare-changes.ts';
import { newContent, type PartedBytes, type StoredBytes } from './content-folder.ts';
import { readEarlierVersion, wholeOf } from './earlier-version.ts';
import { linesOfPieces, type PieceChanges } from './held-pieces.ts';
import { configPath } from './hosted-types.ts';
import type { BundleRange } from './piece-ranges.ts';
import {
  addCopies,
  type CopiesMade,
  hasOnlyChanges,
  type Preparation,
  prepareChanges,
  prepareSite,
} from './prepared-site.ts';
import { DamagedShard, storeChanges, storedLines, storeShards } from './sorted-lines.ts';
import { type Making, openVersionList, type VersionList } from './version-list.ts';
import {
  budgetsOf,
  checkBundle,
  compared,
  copyBundle,
  factsOf,
  linkBundle,
  mostConfigBytes,
  refusing,
  type UnpackedBundle,
  unpackBundle,
} from './unpack-bundle.ts';
import {
  type PackedPieces,
  type PiecesBefore,
  readPieces,
  requireManifest,
  type UnpackedPieces,
  unpackPieces,
} from './unpack-pieces.ts';

/**
 * The bytes of a bundle: an archive, the ranges of one that the earlier version does not have, a folder outside of the versions, the files of a version of
 * this site, the files that an earlier program unpacked for it, or a version that only lacks compressed copies. `sha256`: expected digest of the archive. `bundle`: the files that a manifest does not list.
 */
export type BundlePlace =
  | { kind: 'archive'; file: string; sha256?: string | undefined; pieces?: PiecesPlace | undefined }
  | { kind: 'pieces'; file: string; ranges: readonly BundleRange[]; pieces: PiecesPlace }
  | { kind: 'folder'; path: string }
  | { kind: 'stored'; version: string; bundle: BundleFacts }
  | { kind: 'unpacked'; path: string }
  | { kind: 'without copies'; version: string };

/** A file with the list of a bundle's pieces, and the SHA-256 of the manifest that the platform recorded. */
export type PiecesPlace = { list: string; manifestSha256: string };

/** The files of a bundle that its manifest does not list. */
export type BundleFacts = { manifest: StoredBytes; config?: StoredBytes | undefined };

type DeploymentType = VersionList['manifest']['deployment'];

/** How the pages of a site are made. `deployment`: from the settings, which takes precedence over that of the bundle. */
export type SiteMaking = Pick<Making, 'base' | 'preview'> & { deployment?: DeploymentType | undefined };

export type VersionRequest = {
  place: BundlePlace;
  folder: string;
  /** Folder with the bytes of all versions of the site. */
  content: string;
  making: SiteMaking;
  /** Size limit of the archive. */
  maxBytes: number;
  /** Folder of the version that this one follows, whose files are used again where they are the same. */
  earlier?: string | undefined;
  copies?: CopiesMade | undefined;
};

/**
 * Unpacks a bundle into the content of a site, checks it, and prepares it for serving. Files of an attempt that was interrupted are removed first.
 * Throws `BundleRefused` for a bundle that must not be served.
 */
export async function prepareVersion({
  place,
  folder,
  content,
  making,
  maxBytes,
  earlier: before,
  copies,
}: VersionRequest): Promise<void> {
  const added = newContent(content, folder);
  await added.begin();
  if (place.kind === 'without copies') return await addCopies(folder, added, place.version, content);
  if (place.kind === 'pieces') return await prepareOfPieces(place);
  const earlier = await readEarlierVersion(before, content);
  const { manifest, found, pieces } = await unpacked(place);
  const lines = [...linesOfPieces(pieces ?? new Map()).values()].flatMap((line) => line ?? []);
  await prepareSite(preparationOf(manifest), found, { earlier, pieces: await storeShards(added, lines) });

  function preparationOf(manifest: VersionList['manifest']): Preparation {
    return { folder, content: added, making: madeAs(making, manifest), manifest, copies };
  }

  /** Prepares a bundle of whose archive only the pieces are here that the version before does not hold. */
  async function prepareOfPieces(from: Extract<BundlePlace, { kind: 'pieces' }>): Promise<void> {
    const list = before === undefined ? undefined : await openVersionList(before, content);
    if (list === undefined) throw new BundleRefused('the list of the version before cannot be read');
    const { manifestSha256 } = from.pieces;
    const lines = storedLines(content, list.pieces);
    const { added: all, unread, removed, pieces } = await unpackedPieces(from, from.pieces, { list, pieces: lines });
    const manifest = all.get(manifestPath) ?? (removed.has(manifestPath) ? undefined : list.bundled(manifestPath));
    await requireManifest(manifest, added, manifestSha256);
    const difference = await manifestDifference(list, manifest, all.get(configPath));
    for (const path of unread) all.set(path, await withDigest(path, all.get(path), list, difference));
    const isOther = ([path, { size, sha256 }]: [string, PartedBytes]): boolean => {
      const known = list.bundled(path);
      return known === undefined || known.size !== size || known.sha256 !== sha256;
    };
    const changes = { list, added: new Map([...all].filter(isOther)), removed };
    const shards = await storeChanges(added, lines, linesOfPieces(pieces));
    if (difference !== undefined) {
      compareChanges(changes, difference);
      const facts = factsOf(difference.facts, manifestSha256);
      if (hasOnlyChanges(madeAs(making, facts), changes))
        return await prepareChanges(preparationOf(facts), changes, shards);
    }
    const earlier = wholeOf(list);
    const staying = [...earlier.bundled].filter(([path]) => !removed.has(path));
    const found = new Map(staying.map(([path, { bytes }]): [string, PartedBytes] => [path, bytes]));
    for (const [path, bytes] of changes.added) found.set(path, bytes);
    const whole = await compared(found, added);
    await prepareSite(preparationOf(whole.manifest), found, { earlier, isSure: true, pieces: shards });
  }

  /** The difference between the manifests of the version before and of the bundle; undefined if all files have to be compared. */
  async function manifestDifference(
    list: VersionList,
    next: PartedBytes | undefined,
    config: PartedBytes | undefined,
  ): Promise<ManifestChanges | undefined> {
    const known = list.bundled(manifestPath);
    if (next === undefined || known === undefined || next.size > maxManifestBytes) return undefined;
    if ((config?.size ?? 0) > mostConfigBytes) return undefined;
    const bytesBefore = await added.read(known);
    if (sha256Of(bytesBefore) !== list.manifest.sha256) return undefined;
    return manifestChanges(bytesBefore, await added.read(next));
  }

  /**
   * A file with the digest that the manifest has for it: its pieces are those that the platform recorded for the bundle, and its bytes are compared with
   * the digest before they are first sent. Without a difference of manifests, the digest of its bytes.
   */
  async function withDigest(
    path: string,
    bytes: PartedBytes | undefined,
    list: VersionList,
    difference: ManifestChanges | undefined,
  ): Promise<PartedBytes> {
    if (bytes === undefined) throw new Error(`${path} was not unpacked`);
    if (difference === undefined) return { ...bytes, sha256: sha256Of(await added.read(bytes)) };
    const { sha256 } = entryOf(path, list, difference) ?? {};
    if (sha256 === undefined) throw new BundleRefused(`${path} is not in ${manifestPath}`);
    return { ...bytes, sha256 };
  }

  async function unpacked(
    from: Exclude<BundlePlace, { kind: 'without copies' | 'pieces' }>,
  ): Promise<UnpackedBundle & { pieces?: PieceChanges }> {
    switch (from.kind) {
      case 'archive':
        if (from.pieces !== undefined) {
          const ranges = [{ start: 0, end: maxBytes }];
          const found = await wholeOfPieces({ file: from.file, ranges }, from.pieces).catch(() => undefined);
          if (found !== undefined) return found;
          // The SHA-256 shows that the archive is right, so the list of its pieces is wrong, and is ignored.
          await added.begin();
        }
        return await unpackBundle(from.file, added, maxBytes, { sha256: from.sha256, earlier });
      case 'folder':
        return await copyBundle(from.path, added, maxBytes);
      case 'unpacked':
        return await linkBundle(from.path, added);
      case 'stored':
        return await checkBundle(content, { ...from.bundle, parted: await partedIn(from.version, content) }, added);
    }
  }

  async function wholeOfPieces(
    packed: PackedPieces,
    from: PiecesPlace,
  ): Promise<UnpackedBundle & { pieces: PieceChanges }> {
    const { added: found, pieces } = await unpackedPieces(packed, from);
    await requireManifest(found.get(manifestPath), added, from.manifestSha256);
    return { ...(await compared(found, added)), pieces };
  }

  async function unpackedPieces(
    packed: PackedPieces,
    from: PiecesPlace,
    known?: PiecesBefore,
  ): Promise<UnpackedPieces> {
    const pieces = await readPieces(from.list);
    const options = { contentFolder: content, before: known, budgets: budgetsOf(maxBytes) };
    return await refusing(unpackPieces(packed, pieces, added, options));
  }
}

/** The files of a version that are stored in parts, as far as its list is intact. */
async function partedIn(version: string, content: string): Promise<ReadonlyMap<string, PartedBytes>> {
  const parted = new Map<string, PartedBytes>();
  const list = await openVersionList(version, content);
  for (const shard of list?.shards ?? [])
    try {
      for (const { bundled: [path, bytes] = [] } of list?.linesOf(shard) ?? [])
        if (path !== undefined && bytes?.parts !== undefined) parted.set(path, bytes);
    } catch (error) {
      if (!(error instanceof DamagedShard)) throw error;
    }
  return parted;
}

/** How the pages of a version are made for a site. Pages of an air-gapped site call no other server. */
export const madeAs = (
  { base, preview, deployment }: SiteMaking,
  manifest: Pick<VersionList['manifest'], 'deployment'>,
): Making => ({
  base,
  isAirGapped: (deployment ?? manifest.deployment) === 'air-gapped',
  ...(preview !== undefined && { preview }),
});
