import { docsSchemaFile } from '#shared/docs/format/docs-schema.ts';

/** An entry of a navigation as the four generators have it. `source` is the path of a page's file. */
export type OutlineEntry =
  | { page: string }
  | { group: string; entries: OutlineEntry[] }
  | { href: string; label: string };

/** The settings and the navigation of a project, in the words of all four generators. */
export type SiteOutline = {
  name: string;
  description?: string | undefined;
  /** Path of the logo's file in the new project. */
  logo?: string | undefined;
  favicon?: string | undefined;
  colour?: string | undefined;
  repository?: string | undefined;
  /** One entry is the whole navigation; several are tabs. */
  tabs: { label: string; entries: OutlineEntry[] }[];
  redirects: { source: string; destination: string }[];
};

const ownColour = '#0f766e';

type NavigationPage = string | { group: string; pages: NavigationPage[] };

/** Writes `docs.json`. `pathOf`: path of a page in the new project, by that of its file; undefined if it was not brought over. */
export function docsJsonOf(outline: SiteOutline, pathOf: (source: string) => string | undefined): object {
  const { name, description, logo, favicon, colour = ownColour, repository } = outline;
  const links: { anchor: string; href: string }[] = [];
  const pagesOf = (entries: readonly OutlineEntry[]): NavigationPage[] =>
    entries.flatMap((entry): NavigationPage[] => {
      if ('page' in entry) return [pathOf(entry.page) ?? []].flat();
      if ('href' in entry) {
        links.push({ anchor: entry.label, href: entry.href });
        return [];
      }
      const pages = pagesOf(entry.entries);
      return pages.length === 0 ? [] : [{ group: entry.group, pages }];
    });
  const tabs = outline.tabs
    .map(({ label, entries }) => ({ tab: label, groups: asGroups(pagesOf(entries), label) }))
    .filter(({ groups }) => groups.length > 0);
  const [only] = tabs;
  const division = tabs.length > 1 ? { tabs } : { groups: only?.groups ?? [] };
  return {
    $schema: `./${docsSchemaFile.name}`,
    theme: 'mint',
    name,
    ...(description !== undefined && { description }),
    colors: { primary: colour },
    ...(logo !== undefined && { logo }),
    ...(favicon !== undefined && { favicon }),
    navigation: { ...division, ...(links.length > 0 && { global: { anchors: links } }) },
    ...(repository !== undefined && { navbar: { links: [{ label: 'Source', href: repository }] } }),
    ...(outline.redirects.length > 0 && { redirects: outline.redirects }),
  };
}

/** Pages that stand beside groups become groups of their own, because a sidebar has either. */
function asGroups(pages: readonly NavigationPage[], label: string): NavigationPage[] {
  const groups: { group: string; pages: NavigationPage[] }[] = [];
  let loose: { group: string; pages: NavigationPage[] } | undefined;
  for (const page of pages) {
    if (typeof page !== 'string') {
      groups.push(page);
      loose = undefined;
      continue;
    }
    if (loose === undefined) groups.push((loose = { group: label, pages: [] }));
    loose.pages.push(page);
  }
  return groups;
}

/** A title from a file's or folder's name: `getting-started` is "Getting started". */
export function titleOfName(name: string): string {
  const words = name
    .replace(/^\d+[-_. ]+/, '')
    .replaceAll(/[-_]+/g, ' ')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
