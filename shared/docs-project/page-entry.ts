import { present, textOf, textsOf } from './config-fields.ts';
import { titleFromPath } from './page-path.ts';
import { pageVisibility } from './page-visibility.ts';
import type { JsonObject } from './plain-json.ts';
import type { PagePlace } from './read-navigation.ts';
import type { ReadSource } from './read-sources.ts';
import type { PageEntry } from './site-model.ts';

/** Group of pages whose frontmatter may name groups but cannot be read: nobody is in it. */
export const UNREADABLE_GROUP = 'unreadable-frontmatter';

/** What the site model says of one page. `dependencies`: project files that its bytes may depend on, in any order. */
export function pageEntry(
  path: string,
  { entry, frontmatter: data, groupsUnreadable, linkTargets }: ReadSource,
  places: readonly PagePlace[],
  indexing: 'navigable' | 'all',
  dependencies: string[],
): PageEntry {
  const [place] = places;
  return present({
    path,
    file: entry.path,
    sha256: entry.sha256,
    sizeBytes: entry.sizeBytes,
    title: textOf(data['title']) ?? titleFromPath(path),
    sidebarTitle: textOf(data['sidebarTitle']),
    description: textOf(data['description']),
    icon: textOf(data['icon']),
    tag: textOf(data['tag']),
    deprecated: data['deprecated'] === true || data['deprecated'] === 'true',
    ...pageVisibility(data, places, indexing),
    groups: groupsUnreadable ? [UNREADABLE_GROUP] : groupsOf(data),
    keywords: textsOf(data['keywords']).flatMap((text) => text.split(/\s*,\s*/)),
    language: place?.language,
    version: place?.version,
    frontmatter: data,
    dependencies: [...new Set(dependencies)].sort(),
    linkTargets,
  });
}

/** Who may see the page. What cannot be read closes the page instead of opening it to everyone. */
function groupsOf(data: JsonObject): string[] {
  const { groups } = data;
  if (groups === undefined || groups === null || (Array.isArray(groups) && groups.length === 0)) return [];
  const named = textsOf(groups);
  return named.length > 0 ? named : [UNREADABLE_GROUP];
}
