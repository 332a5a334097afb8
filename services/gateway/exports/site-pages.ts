import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { ContentId } from '#shared/contracts/identifiers.ts';
import { siteModelKey } from '#shared/contracts/stored-objects.ts';
import { type ObjectStore, storeWithin } from '#shared/storage/object-store.ts';

/** Size of the cache. A large site has 30 MB of paths, and one organization may request many versions of it. */
const mostKeptCharacters = 50_000_000;
/** Memory of a path in addition to its text, in characters. */
const overhead = 64;
const withinMs = 10_000;

/** The parts of a site model that are needed here. */
const pagesSchema = z.object({
  pages: z.array(z.object({ path: z.string(), groups: z.array(z.string()).default([]) })),
});

type PagesOfSite = {
  paths: ReadonlySet<string>;
  /** Groups that pages are restricted to. */
  groups: ReadonlySet<string>;
};

/** Page paths and groups of a content version, or undefined if it is not stored. */
export type SitePages = (content: ContentId) => Promise<PagesOfSite | undefined>;

/** Reads page paths and groups from the site model. A content version never changes, so the recently used ones are cached, up to `mostCharacters` in total. */
export function sitePages(objectStore: Pick<ObjectStore, 'get'>, mostCharacters = mostKeptCharacters): SitePages {
  const sizeOf = (names: ReadonlySet<string>) =>
    names.values().reduce((sum, name) => sum + name.length + overhead, overhead);
  const kept = new LRUCache<string, PagesOfSite>({
    maxSize: mostCharacters,
    sizeCalculation: ({ paths, groups }) => sizeOf(paths) + sizeOf(groups),
  });
  return async (content) => {
    const key = siteModelKey(content);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const bytes = await objectStore.get(key, { signal: storeWithin(withinMs) });
    if (bytes === undefined) return undefined;
    const model = pagesSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    const pages = {
      paths: new Set(model.pages.map(({ path }) => path)),
      groups: new Set(model.pages.flatMap(({ groups }) => groups)),
    };
    kept.set(key, pages);
    return pages;
  };
}
