import type { JsonObject } from './plain-json.ts';
import type { PagePlace } from './read-navigation.ts';

export type PageVisibility = { inNavigation: boolean; hidden: boolean; noindex: boolean; searchable: boolean };

/**
 * The documented matrix. Hidden: not in the sidebar. Not indexed: `noindex` for search engines. Searchable: site search, assistant. What is in
 * the sitemap and llms.txt follows from these and `inNavigation`. `places`: all places that the navigation has for the page.
 */
export function pageVisibility(
  frontmatter: JsonObject,
  places: readonly PagePlace[],
  indexing: 'navigable' | 'all',
): PageVisibility {
  const { hidden, noindex, searchable } = frontmatter;
  const inNavigation = places.length > 0;
  const shown = places.filter((place) => !place.hidden);
  const hiddenByPlace = inNavigation && shown.length === 0;
  const isHidden = hidden === true || hiddenByPlace;
  // `hidden: false` on a page of a hidden group keeps it out of the sidebar, but puts it back into search and indexes.
  const openedUp = hidden !== true && (hidden === false || places.some((place) => place.searchable === true));
  if (noindex === true) return { inNavigation, hidden: isHidden, noindex: true, searchable: false };
  if (indexing === 'all') return { inNavigation, hidden: isHidden, noindex: false, searchable: searchable !== false };
  const closedByPlace = shown.length > 0 && shown.every((place) => place.searchable === false);
  return {
    inNavigation,
    hidden: isHidden,
    noindex: isHidden && !openedUp,
    searchable: searchable !== false && inNavigation && !closedByPlace && (!isHidden || openedUp),
  };
}
