import type { SiteFolder, StoredVersion } from './site-folder.ts';

/** A version that answers may be read from. */
export type ServedVersion = StoredVersion & {
  /** Number of answers in flight from its files. */
  readers: number;
  replacedAt?: number;
};

/** Grace period for pages that were loaded just before two changes of version. */
const keptForMs = 60_000;
const mostOlder = 20;

/**
 * The versions of a site. The active one answers everything. Earlier ones answer only addresses that name bytes, for pages that readers have open:
 * the previous version always, older ones for a minute. The folder keeps a number of versions on disk for rollbacks. Any other version is removed
 * when no answer reads from it.
 */
export function servedVersions(folder: SiteFolder, now: () => number = Date.now) {
  const [first, ...others] = folder.stored.map(served);
  let active = first;
  /** Earlier versions, the last active one first. */
  let earlier = others;
  const retired = new Set<ServedVersion>();
  let changes: Promise<unknown> = Promise.resolve();

  /** Runs one change at a time. */
  function afterOthers<T>(run: () => Promise<T>): Promise<T> {
    const ran = changes.then(run);
    changes = ran.catch(() => {});
    return ran;
  }

  const isRecent = ({ replacedAt = 0 }: ServedVersion, index: number): boolean =>
    index < mostOlder && now() - replacedAt < keptForMs;

  async function sweep(): Promise<void> {
    const isKept = (version: ServedVersion, index: number) => index < folder.keeps || isRecent(version, index);
    for (const version of earlier.filter((each, index) => !isKept(each, index))) retired.add(version);
    earlier = earlier.filter(isKept);
    for (const version of retired) {
      if (version.readers > 0) continue;
      retired.delete(version);
      await folder.remove(version);
    }
  }

  async function change(next: StoredVersion, instead?: ServedVersion): Promise<void> {
    const before = active;
    if (next.id === before?.id) return;
    const kept = earlier.find(({ id }) => id === next.id);
    const others = [...(before === undefined ? [] : [before]), ...earlier].filter(
      (version) => version !== kept && version !== instead,
    );
    try {
      await folder.activate([next, ...others.slice(0, folder.keeps)]);
    } catch (error) {
      if (kept === undefined) await folder.remove(next);
      throw error;
    }
    if (before !== undefined) before.replacedAt = now();
    earlier = others;
    active = kept ?? served(next);
    if (instead !== undefined && instead !== active) retired.add(instead);
    await sweep();
  }

  return {
    active: () => active,
    /** Earlier versions with files of pages that readers may have open. */
    older: (): readonly ServedVersion[] => earlier.filter((version, index) => index === 0 || isRecent(version, index)),
    /** The active version and those that a rollback can activate. */
    all: (): readonly ServedVersion[] => (active === undefined ? earlier : [active, ...earlier]),
    /**
     * Activates a stored version. It is one assignment, so each answer uses a single version. A new version that cannot be recorded as the active one
     * is removed. `instead`: a version to remove.
     */
    swap: (next: StoredVersion, instead?: ServedVersion): Promise<void> => afterOthers(() => change(next, instead)),
    /** Answers from `next` instead of a version, if that is still the active one; otherwise removes `next`. */
    replace: (version: ServedVersion, next: StoredVersion): Promise<void> =>
      afterOthers(() => (version === active ? change(next, version) : folder.remove(next))),
    /** Activates the first kept version that is `wanted`. Returns false if there is none. */
    reuse: (wanted: (version: ServedVersion) => boolean): Promise<boolean> =>
      afterOthers(async () => {
        const found = [active, ...earlier].find((version) => version !== undefined && wanted(version));
        if (found !== undefined) await change(found);
        return found !== undefined;
      }),
    sweep: (): Promise<void> => afterOthers(sweep),
    /** True if a later sweep may remove something. */
    isToSweep: () => earlier.length > folder.keeps || retired.size > 0,
  };
}

export type ServedVersions = ReturnType<typeof servedVersions>;

const served = (version: StoredVersion): ServedVersion => ({ ...version, readers: 0 });
