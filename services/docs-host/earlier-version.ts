import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { PartedBytes } from './content-folder.ts';
import { type ListLine, openVersionList, type VersionList } from './version-list.ts';

/** The version before a new one. The new version reuses the lines of unchanged files, so that it writes and compresses only changed files. */
export type EarlierVersion = {
  list: VersionList;
  /** The files of its bundle by path, with the line of each. A file without a line is prepared again. */
  bundled: ReadonlyMap<string, { bytes: PartedBytes; line: ListLine }>;
  /** Digest of the paths of all pages. */
  pages: string;
};

/** Reads the version before a new one; undefined if nothing of it can be reused. */
export async function readEarlierVersion(
  folder: string | undefined,
  content: string,
): Promise<EarlierVersion | undefined> {
  if (folder === undefined) return undefined;
  try {
    const list = await openVersionList(folder, content);
    return list && wholeOf(list);
  } catch {
    // The new version is then made without it.
    return undefined;
  }
}

/** All files of a version. Throws `DamagedShard`. */
export function wholeOf(list: VersionList): EarlierVersion {
  const bundled = new Map<string, { bytes: PartedBytes; line: ListLine }>();
  for (const line of list.lines()) {
    const [path, bytes] = line.bundled ?? [];
    if (path !== undefined && bytes !== undefined) bundled.set(path, { bytes, line });
  }
  return { list, bundled, pages: pagesDigest(bundled.keys()) };
}

/** Digest of the paths of all pages among these paths: links of a page depend on the pages that exist. */
export const pagesDigest = (paths: Iterable<string>): string =>
  sha256Of(
    [...paths]
      .filter((path) => path.endsWith('.html'))
      .toSorted()
      .join('\n'),
  );
