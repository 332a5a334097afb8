import type { PageEntry, SiteModel } from '#shared/docs-project/site-model.ts';

/*
 * Where a page is named, by the visibility matrix of the documentation format; the page's own flags come from publication. Every exported page
 * has its file, whatever is said here.
 */

type Flags = Pick<PageEntry, 'inNavigation' | 'noindex'>;
type Indexing = SiteModel['settings']['seo']['indexing'];

export function isInSitemap(page: Flags, indexing: Indexing): boolean {
  return !page.noindex && (indexing === 'all' || page.inNavigation);
}

/** `llms.txt` lists what the sitemap lists. */
export const isInLlms = isInSitemap;
