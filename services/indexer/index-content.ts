import { pageMarkdownPrefix } from '#shared/contracts/stored-objects.ts';
import { guidancePage } from '#shared/search/guidance-page.ts';
import type { SearchIndex, SearchScope } from '#shared/search/search-index.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { type ReadingContext, readSitePages } from './site-pages.ts';
import { openStoredContent } from './stored-content.ts';

export type IndexingContext = ReadingContext & { objectStore: ObjectStore; searchIndex: SearchIndex };

/**
 * Fills the search index with the pages of a content version that readers may search. Returns the number of passages. `from`: the version that was
 * searched before; unchanged pages are copied from it. A page that cannot be read is found by its title and description. Throws `ContentBroken` if a
 * retry cannot succeed.
 */
export async function indexContent(
  context: IndexingContext,
  scope: SearchScope,
  from: string | undefined,
  signal: AbortSignal,
): Promise<number> {
  const content = await openStoredContent(context.objectStore, scope, signal);
  const build = await context.searchIndex.startBuild(scope, { from, synonyms: content.site.synonyms, signal });
  try {
    const kept: string[] = [];
    const isNew = ({ path, key }: { path: string; key: string }): boolean => {
      const isKnown = build.known.get(path) === key;
      if (isKnown) kept.push(path);
      return !isKnown;
    };
    for await (const pages of readSitePages(context, scope, content, isNew, signal)) await build.add(pages);
    await build.keep(kept);
    if (content.site.guidance !== undefined) await build.add([guidancePage(content.site.guidance)]);
    return await build.commit();
  } catch (error) {
    await build.abandon();
    throw error;
  }
}

/** Removes a version from the search, and the Markdown that earlier indexers stored for it. */
export async function removeContent(
  context: Pick<IndexingContext, 'objectStore' | 'searchIndex'>,
  scope: SearchScope,
  signal: AbortSignal,
): Promise<void> {
  await context.searchIndex.remove(scope);
  for await (const { key } of context.objectStore.list(pageMarkdownPrefix(scope), { signal })) {
    await context.objectStore.remove(key, { signal });
  }
}
