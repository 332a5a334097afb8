import { link, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import { manifestPath } from '#shared/export/bundle/verify-bundle.ts';
import { jsonIn, sha256Of } from '#shared/runtime/canonical-json.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { readVersionList, type VersionList } from './version-list.ts';

/**
 * The version that a new one follows. Files that are the same in both get hard links, so a new version writes and compresses only the files that changed.
 * The files of a version are never changed in place, and each version can be removed without the other.
 */
export type EarlierVersion = {
  folder: string;
  list: VersionList;
  /** SHA-256 of a file of its bundle; undefined if it has no such file. */
  sha256Of(path: string): string | undefined;
  /** Digest of the paths of all pages. */
  pages: string;
};

const manifestSchema = z.object({ files: z.array(z.object({ path: z.string(), sha256: sha256Hex })) });

/** Undefined if nothing of the version can be used again. */
export async function readEarlierVersion(folder: string | undefined): Promise<EarlierVersion | undefined> {
  if (folder === undefined) return undefined;
  try {
    const list = await readVersionList(folder);
    const bytes = await readFile(join(folder, 'files', manifestPath));
    if (list === undefined || sha256Of(bytes) !== list.manifest.sha256) return undefined;
    const { files } = manifestSchema.parse(jsonIn(bytes.toString('utf8')));
    const digests = new Map(files.map(({ path, sha256 }) => [path, sha256]));
    return { folder, list, sha256Of: (path) => digests.get(path), pages: pagesDigest(digests.keys()) };
  } catch {
    // The new version is then made without it.
    return undefined;
  }
}

/** Digest of the paths of all pages among these paths: links of a page depend on the pages that exist. */
export const pagesDigest = (paths: Iterable<string>): string =>
  sha256Of(
    [...paths]
      .filter((path) => path.endsWith('.html'))
      .toSorted()
      .join('\n'),
  );

/** Links a file of an earlier version. False if the file is lost, or the file system has no links or no more of this one; then it has to be written. */
export async function linkFile(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (noLinks.has(errorCode(error) ?? '')) return false;
    throw error;
  }
}

const noLinks: ReadonlySet<string> = new Set(['ENOENT', 'EPERM', 'EMLINK', 'EXDEV', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);
