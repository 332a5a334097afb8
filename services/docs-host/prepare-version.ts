import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readEarlierVersion } from './earlier-version.ts';
import { prepareSite } from './prepared-site.ts';
import type { Making, VersionList } from './version-list.ts';
import { checkBundle, copyBundle, unpackBundle } from './unpack-bundle.ts';

/** The bytes of a bundle: an archive, a folder outside of the versions, or the files of the version itself. `sha256`: expected digest of the archive. */
export type BundlePlace =
  | { kind: 'archive'; file: string; sha256?: string | undefined }
  | { kind: 'folder'; path: string }
  | { kind: 'own-files' };

type DeploymentType = VersionList['manifest']['deployment'];

/** How the pages of a site are made. `deployment`: from the settings, which takes precedence over that of the bundle. */
export type SiteMaking = Pick<Making, 'base' | 'preview'> & { deployment?: DeploymentType | undefined };

export type VersionRequest = {
  place: BundlePlace;
  /** Folder of the version. */
  folder: string;
  making: SiteMaking;
  /** Size limit of the archive. */
  maxBytes: number;
  /** Folder of the version that this one follows, whose files are used again where they are the same. */
  earlier?: string | undefined;
};

/**
 * Unpacks a bundle into the folder of a version, checks it, and prepares it for serving. Files of an attempt that was interrupted are removed first.
 * Throws `BundleRefused` for a bundle that must not be served.
 */
export async function prepareVersion({
  place,
  folder,
  making,
  maxBytes,
  earlier: before,
}: VersionRequest): Promise<void> {
  const files = join(folder, 'files');
  if (place.kind !== 'own-files') await rm(files, { recursive: true, force: true });
  const earlier = await readEarlierVersion(before);
  const { manifest, found } =
    place.kind === 'archive'
      ? await unpackBundle(place.file, files, maxBytes, { sha256: place.sha256, earlier })
      : place.kind === 'folder'
        ? await copyBundle(place.path, files, maxBytes)
        : await checkBundle(files);
  await prepareSite(folder, madeAs(making, manifest), manifest, found, earlier);
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
