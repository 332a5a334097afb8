import type { PageEntry, SiteModel } from '#shared/docs-project/site-model.ts';

/**
 * Who gets to see a page: the visibility matrix of the documentation format. Every exported page has its file; this says where it is named.
 */
type Visibility = Pick<PageEntry, 'inNavigation' | 'hidden' | 'noindex' | 'searchable' | 'frontmatter'>;

/** Search engines are told to keep away. */
export function isNoindex(page: Visibility): boolean {
  return page.noindex || (page.hidden && !isMadeSearchable(page));
}

export function isInSearch(page: Visibility, indexing: SiteModel['settings']['seo']['indexing']): boolean {
  if (page.noindex || page.frontmatter.searchable === false || (!page.searchable && !page.hidden)) return false;
  return isListed(page, indexing);
}

export function isInSitemap(page: Visibility, indexing: SiteModel['settings']['seo']['indexing']): boolean {
  return !page.noindex && isListed(page, indexing);
}

export const isInLlms = isInSitemap;

function isListed(page: Visibility, indexing: SiteModel['settings']['seo']['indexing']): boolean {
  if (indexing === 'all') return true;
  if (page.hidden) return isMadeSearchable(page);
  return page.inNavigation;
}

const isMadeSearchable = (page: Visibility): boolean =>
  page.frontmatter.searchable === true || page.frontmatter.hidden === false;
