import { newContent, type PartedBytes, type StoredBytes } from './content-folder.ts';
import { readEarlierVersion } from './earlier-version.ts';
import { type HeldPieces, readHeldPieces, writeHeldPieces } from './held-pieces.ts';
import type { BundleRange } from './piece-ranges.ts';
import { addCopies, type CopiesMade, prepareSite } from './prepared-site.ts';
import { type Making, readVersionList, type VersionList } from './version-list.ts';
import {
  budgetsOf,
  checkBundle,
  compared,
  copyBundle,
  linkBundle,
  refusing,
  type UnpackedBundle,
  unpackBundle,
} from './unpack-bundle.ts';
import { type PackedPieces, readPieces, requireManifest, unpackPieces } from './unpack-pieces.ts';

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
  if (place.kind === 'without copies') {
    await writeHeldPieces(folder, await readHeldPieces(place.version));
    return await addCopies(folder, added, place.version);
  }
  const earlier = await readEarlierVersion(before);
  const { manifest, found, held } = await unpacked(place);
  await writeHeldPieces(folder, held ?? new Map());
  const isSure = place.kind === 'pieces';
  await prepareSite(folder, added, madeAs(making, manifest), manifest, found, { earlier, isSure, copies });

  async function unpacked(
    from: Exclude<BundlePlace, { kind: 'without copies' }>,
  ): Promise<UnpackedBundle & { held?: HeldPieces }> {
    switch (from.kind) {
      case 'pieces':
        return await ofPieces(from, from.pieces, before === undefined ? undefined : await readHeldPieces(before));
      case 'archive':
        if (from.pieces !== undefined) {
          const ranges = [{ start: 0, end: maxBytes }];
          const found = await ofPieces({ file: from.file, ranges }, from.pieces).catch(() => undefined);
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
        return await checkBundle(content, { ...from.bundle, parted: await partedIn(from.version) }, added);
    }
  }

  async function ofPieces(packed: PackedPieces, { list, manifestSha256 }: PiecesPlace, held?: HeldPieces) {
    const pieces = await readPieces(list);
    const budgets = budgetsOf(maxBytes);
    const { found, held: next } = await refusing(
      unpackPieces(packed, pieces, added, { contentFolder: content, earlier, held, budgets }),
    );
    await requireManifest(found, added, manifestSha256);
    return { ...(await compared(found, added)), held: next };
  }
}

/** The files of a version that are stored in parts; empty if its list is damaged. */
async function partedIn(version: string): Promise<ReadonlyMap<string, PartedBytes>> {
  const list = await readVersionList(version);
  const bundled = [...(list?.lines() ?? [])].flatMap((line) => (line.bundled === undefined ? [] : [line.bundled]));
  return new Map(bundled.filter(([, { parts }]) => parts !== undefined));
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
