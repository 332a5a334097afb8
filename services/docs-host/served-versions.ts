import type { SiteFolder, StoredVersion } from './site-folder.ts';
import type { HostedFile } from './prepared-site.ts';
import { type Redirection, wildcardRedirects } from '#shared/docs/render/redirects.ts';

/** A version while answers may be read from it. */
export type ServedVersion = StoredVersion & {
  paths: ReadonlyMap<string, HostedFile>;
  /** Tells if the redirect at a path is permanent. `wildcard` is the redirect of a path without a page. */
  isPermanent: (source: string) => boolean;
  wildcard: (path: string) => Redirection | undefined;
  /** Number of answers in flight from its files. */
  readers: number;
  replacedAt?: number;
};

/** Grace period for pages that were loaded just before two changes of version. */
const keptForMs = 60_000;
const mostOlder = 20;

/**
 * The versions that answers come from. The active one answers everything; earlier ones only addresses that name bytes, for pages that readers have
 * open: the previous one always, older ones for a minute. A folder is removed when no answer reads from it.
 */
export function servedVersions(folder: SiteFolder, now: () => number = Date.now) {
  let active = folder.active === undefined ? undefined : served(folder.active);
  let older = folder.previous === undefined ? [] : [served(folder.previous)];
  const retired = new Set<ServedVersion>();

  async function sweep(): Promise<void> {
    const isKept = ({ replacedAt = 0 }: ServedVersion, index: number) =>
      index === 0 || (index < mostOlder && now() - replacedAt < keptForMs);
    for (const version of older.filter((each, index) => !isKept(each, index))) retired.add(version);
    older = older.filter(isKept);
    for (const version of retired) {
      if (version.readers > 0) continue;
      retired.delete(version);
      await folder.remove(version);
    }
  }

  return {
    active: () => active,
    /** The file for an address that names bytes: by the file's own digest, or by the token of a version. */
    find(digest: string, path: string): { version: ServedVersion; file: HostedFile } | undefined {
      for (const version of active === undefined ? older : [active, ...older]) {
        const file = version.paths.get(path);
        if (file !== undefined && (file.digest === digest || version.site.token === digest)) return { version, file };
      }
      return undefined;
    },
    /**
     * Answers from a stored version from now on: one assignment, so each answer uses a single version. A version that cannot be recorded as the
     * active one is removed.
     */
    async swap(next: StoredVersion): Promise<void> {
      try {
        await folder.activate(next.id, active?.id);
      } catch (error) {
        await folder.remove(next);
        throw error;
      }
      if (active !== undefined) {
        active.replacedAt = now();
        older = [active, ...older];
      }
      active = served(next);
      await sweep();
    },
    sweep,
  };
}

export type ServedVersions = ReturnType<typeof servedVersions>;

function served(version: StoredVersion): ServedVersion {
  const { files, permanentRedirects, wildcards } = version.site;
  const permanent = new Set(permanentRedirects);
  return {
    ...version,
    paths: new Map(Object.entries(files)),
    isPermanent: (source) => permanent.has(source),
    wildcard: wildcardRedirects(wildcards),
    readers: 0,
  };
}
