import { type JsonObject, type JsonValue, textOf, textsOf } from './json-values.ts';
import { titleFromPath } from './project-files.ts';
import { iconOf } from './read-icons.ts';
import type { PagePlace } from './read-navigation.ts';
import type { ReadSource } from './read-sources.ts';
import type { PageEntry } from './site-model.ts';
import type { PageReference } from '#shared/docs/reference/site-reference.ts';

/** The group of pages whose frontmatter may name groups but cannot be read. It has no members. */
export const unreadableGroup = 'unreadable-frontmatter';

/**
 * The site model's entry for one page. `dependencies` are project files that its bytes may depend on, in any order. `reference` is the part of a
 * specification that it shows; the page's own frontmatter takes precedence.
 */
export function pageEntry(
  path: string,
  { entry, frontmatter: data, groupsUnreadable, leadingTitle, linkTargets }: ReadSource,
  places: readonly PagePlace[],
  indexing: 'navigable' | 'all',
  dependencies: string[],
  reference?: PageReference,
): PageEntry {
  const [place] = places;
  return {
    path,
    file: entry.path,
    sha256: entry.sha256,
    sizeBytes: entry.sizeBytes,
    title: textOf(data['title']) ?? reference?.title ?? leadingTitle ?? titleFromPath(path),
    sidebarTitle: textOf(data['sidebarTitle']),
    description: textOf(data['description']) ?? reference?.description,
    icon: iconOf(data),
    tag: textOf(data['tag']),
    deprecated: truthOf(data['deprecated']) ?? reference?.isDeprecated === true,
    ...pageVisibility(data, places, indexing),
    groups: groupsUnreadable ? [unreadableGroup] : groupsOf(data),
    keywords: textsOf(data['keywords']).flatMap((text) => text.split(/\s*,\s*/)),
    language: place?.language,
    version: place?.version,
    frontmatter: data,
    dependencies: [...new Set([...dependencies, ...(reference ? [reference.entry.path] : [])])].sort(),
    reference: reference?.entry.path,
    linkTargets: reference ? [...new Set([...linkTargets, ...reference.linkTargets])].sort() : linkTargets,
  };
}

/** Reads true and false, also in quotes, because an author who quotes them means the same. */
const truthOf = (value: JsonValue | undefined): boolean | undefined => {
  const text = textOf(value)?.toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : undefined;
};

/** Groups that may see the page. If they cannot be read, the page is closed to everyone instead of open. */
function groupsOf(data: JsonObject): string[] {
  const { groups } = data;
  if (groups === undefined || groups === null || (Array.isArray(groups) && groups.length === 0)) return [];
  const named = textsOf(groups);
  return named.length > 0 ? named : [unreadableGroup];
}

export type PageVisibility = { inNavigation: boolean; hidden: boolean; noindex: boolean; searchable: boolean };

/**
 * The documented visibility matrix. Hidden pages are not in the sidebar, `noindex` is for search engines, and searchable pages are in site search and
 * the assistant. The sitemap and llms.txt follow from these and `inNavigation`. `places` are all places of the page in the navigation.
 */
export function pageVisibility(
  frontmatter: JsonObject,
  places: readonly PagePlace[],
  indexing: 'navigable' | 'all',
): PageVisibility {
  const hidden = truthOf(frontmatter['hidden']);
  const noindex = truthOf(frontmatter['noindex']);
  const searchable = truthOf(frontmatter['searchable']);
  const inNavigation = places.length > 0;
  const shown = places.filter((place) => !place.hidden);
  const hiddenByPlace = inNavigation && shown.length === 0;
  const isHidden = hidden === true || hiddenByPlace;
  // `hidden: false` on a page of a hidden group keeps it out of the sidebar, but includes it in search and indexes again.
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
