import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type PreparedSite, prepareSite } from './prepared-site.ts';
import { checkBundle, copyBundle, unpackBundle } from './unpack-bundle.ts';

/** The bytes of a bundle: an archive, a folder outside of the versions, or the files of the version itself. `sha256`: expected digest of the archive. */
export type BundlePlace =
  | { kind: 'archive'; file: string; sha256?: string | undefined }
  | { kind: 'folder'; path: string }
  | { kind: 'own-files' };

type DeploymentType = PreparedSite['manifest']['deployment'];

export type VersionRequest = {
  place: BundlePlace;
  /** Folder of the version. */
  folder: string;
  /** Path that the site is served under. */
  base: string;
  /** Deployment type from the settings, which takes precedence over that of the bundle. */
  deployment?: DeploymentType | undefined;
  /** Size limit of the archive. */
  maxBytes: number;
};

/**
 * Unpacks a bundle into the folder of a version, checks it, and prepares it for serving. Files of an attempt that was interrupted are removed first.
 * Throws `BundleRefused` for a bundle that must not be served.
 */
export async function prepareVersion({ place, folder, base, deployment, maxBytes }: VersionRequest): Promise<void> {
  const files = join(folder, 'files');
  if (place.kind !== 'own-files') await rm(files, { recursive: true, force: true });
  const { manifest, found } =
    place.kind === 'archive'
      ? await unpackBundle(place.file, files, maxBytes, place.sha256)
      : place.kind === 'folder'
        ? await copyBundle(place.path, files, maxBytes)
        : await checkBundle(files);
  await prepareSite(folder, { base, isAirGapped: isAirGapped(deployment, manifest) }, manifest, found);
}

/** True if the pages of a version call no other server. */
export const isAirGapped = (
  deployment: DeploymentType | undefined,
  manifest: Pick<PreparedSite['manifest'], 'deployment'>,
): boolean => (deployment ?? manifest.deployment) === 'air-gapped';
