import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { ContentId } from '#shared/contracts/identifiers.ts';
import { siteModelKey } from '#shared/contracts/stored-objects.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

/** A large site has 30 MB of paths, and one organization may ask for many versions of it. */
const mostKeptCharacters = 50_000_000;
/** What a path costs beside its characters. */
const overhead = 64;
const withinMs = 10_000;

/** All that is needed of a site model here. */
const pagesSchema = z.object({ pages: z.array(z.object({ path: z.string() })) });

/** Page paths of a content version, or undefined when it is not stored. */
export type SitePages = (content: ContentId) => Promise<ReadonlySet<string> | undefined>;

/**
 * Reads page paths from the site model. A content version never changes, so those that were asked for last are kept, as far as they have
 * `mostCharacters` together.
 */
export function sitePages(objectStore: Pick<ObjectStore, 'get'>, mostCharacters = mostKeptCharacters): SitePages {
  const kept = new LRUCache<string, ReadonlySet<string>>({
    maxSize: mostCharacters,
    sizeCalculation: (paths) => paths.values().reduce((sum, path) => sum + path.length + overhead, overhead),
  });
  return async (content) => {
    const key = siteModelKey(content);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const bytes = await objectStore.get(key, { signal: AbortSignal.timeout(withinMs) });
    if (bytes === undefined) return undefined;
    const model = pagesSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    const paths = new Set(model.pages.map((page) => page.path));
    kept.set(key, paths);
    return paths;
  };
}
