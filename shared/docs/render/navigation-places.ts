import { bundlePathProblem } from '#shared/export/bundle/bundle-names.ts';
import type { NavigationNode, PageEntry } from '#shared/docs/project/site-model.ts';
import type { SidebarEntry } from './site/page-globals.ts';

type Division = Extract<NavigationNode, { kind: 'division' }>;

/** The sidebar of the pages of one innermost division. */
export type Sidebar = { id: string; links: SidebarEntry[]; entries: SidebarEntry[] };

/** A choice between tabs, versions, languages … that a page belongs to. `page` or `href` says where each option leads. */
export type DivisionChoice = {
  division: Division['division'];
  current: number;
  options: {
    title: string;
    page?: string;
    href?: string;
    /** The file of the site that `href` names; `hash` is the hash of that address. */
    file?: string;
    hash?: string;
    tag?: string;
    icon?: string;
  }[];
};

/** A group that contains a page, and the first page of that group. */
export type PlaceGroup = { title: string; page?: string };

export type NavigationPlace = {
  sidebar: string;
  choices: DivisionChoice[];
  /** The groups that contain the page, outermost first. */
  groups: PlaceGroup[];
  /** The pages of the innermost group, this page included. */
  siblings: readonly string[];
  previous?: string;
  next?: string;
};

type NavigationPlaces = {
  places: Map<string, NavigationPlace>;
  defaultPlace: NavigationPlace;
  sidebars: Sidebar[];
};

/** Finds the first place of every page in the navigation. `isShown` is true for pages that a reader may see in it. */
export function navigationPlaces(
  navigation: readonly NavigationNode[],
  pages: ReadonlyMap<string, PageEntry>,
  isShown: (path: string) => boolean,
): NavigationPlaces {
  const places = new Map<string, NavigationPlace>();
  const sidebars: Sidebar[] = [];
  const ids = new Set<string>();
  let withoutPages: Sidebar | undefined;

  const visit = (
    nodes: readonly NavigationNode[],
    choices: DivisionChoice[],
    titles: string[],
    links: SidebarEntry[],
  ) => {
    const divisions = nodes.filter((node): node is Division => node.kind === 'division' && !node.hidden);
    const inner = divisions.filter((node) => node.children.length > 0);
    const outward = divisions.filter(
      (node) => node.children.length === 0 && node.href !== undefined && node.division === 'anchor',
    );
    const ownLinks = [
      ...links,
      ...outward.map((node) => withIcon({ t: node.title, h: node.href as string }, node.icon)),
    ];
    const direct = nodes.filter((node) => node.kind !== 'division');
    if (direct.length > 0 || inner.length === 0) {
      addSidebar(direct, choices, titles, ownLinks);
    }
    const choiceOf = optionsAmong(divisions);
    for (const node of inner) {
      const choice = choiceOf(node);
      const depth = choice.options.length > 1 ? [...choices, choice] : choices;
      visit(node.children, depth, [...titles, node.title], ownLinks);
    }
  };

  /** Options of the divisions of each kind among nodes. All choices share these lists, because there may be thousands of choices and options. */
  const optionsAmong = (all: readonly Division[]) => {
    const byKind = new Map<Division['division'], DivisionChoice['options']>();
    const positions = new Map<Division, number>();
    for (const node of all) {
      const options = byKind.get(node.division) ?? [];
      byKind.set(node.division, options);
      const page = firstPage(node.children, isShown);
      if (node.children.length > 0 ? page === undefined : node.href === undefined || node.division === 'anchor')
        continue;
      positions.set(node, options.length);
      options.push({
        title: node.title,
        ...(page === undefined ? { href: node.href as string } : { page }),
        ...(node.tag === undefined ? {} : { tag: node.tag }),
        ...(node.icon === undefined ? {} : { icon: node.icon }),
      });
    }
    return (node: Division): DivisionChoice => ({
      division: node.division,
      current: positions.get(node) ?? 0,
      options: byKind.get(node.division) ?? [],
    });
  };

  const addSidebar = (
    nodes: readonly NavigationNode[],
    choices: DivisionChoice[],
    titles: string[],
    links: SidebarEntry[],
  ) => {
    const id = uniqueId(titles, ids);
    const ordered = new Set<string>();
    const put = (path: string, groups: PlaceGroup[], siblings: readonly string[]) => {
      if (!isShown(path)) return;
      ordered.add(path);
      if (!places.has(path)) places.set(path, { sidebar: id, choices, groups, siblings });
    };
    const entriesOf = (children: readonly NavigationNode[], groups: PlaceGroup[]): SidebarEntry[] => {
      const siblings = children.flatMap((child) => (child.kind === 'page' && isShown(child.path) ? [child.path] : []));
      return children.flatMap((child): SidebarEntry[] => {
        if (child.kind === 'link') return [withIcon({ t: child.title, h: child.href }, child.icon)];
        if (child.kind === 'page') {
          if (!isShown(child.path)) return [];
          put(child.path, groups, siblings);
          const page = pages.get(child.path);
          const entry = { t: child.title ?? page?.sidebarTitle ?? page?.title ?? child.path, p: child.path };
          return [withIcon({ ...entry, ...tagOf(child.tag ?? page?.tag) }, child.icon ?? page?.icon)];
        }
        if (child.kind === 'division') return entriesOf(child.children, groups);
        if (child.hidden) return [];
        const root = child.root !== undefined && isShown(child.root) ? child.root : undefined;
        const start = root ?? firstPage(child.children, isShown);
        const around = [...groups, { title: child.title, ...(start !== undefined && { page: start }) }];
        if (root !== undefined) put(root, around, siblings);
        const inside = entriesOf(child.children, around);
        if (inside.length === 0 && root === undefined) return [];
        const entry: SidebarEntry = { t: child.title, c: inside, ...tagOf(child.tag) };
        if (root !== undefined) entry.r = root;
        if (child.expanded === true) entry.x = 1;
        return [withIcon(entry, child.icon)];
      });
    };
    const sidebar = { id, links, entries: entriesOf(nodes, []) };
    // A sidebar without pages belongs to a hidden division, and its file name would reveal the division's title.
    if (ordered.size > 0) sidebars.push(sidebar);
    else withoutPages ??= sidebar;
    const order = [...ordered];
    for (const [position, path] of order.entries()) {
      const place = places.get(path);
      if (place?.sidebar !== id || place.previous !== undefined || place.next !== undefined) continue;
      const [previous, next] = [order[position - 1], order[position + 1]];
      if (previous !== undefined) place.previous = previous;
      if (next !== undefined) place.next = next;
    }
  };

  visit(navigation, [], [], []);
  if (sidebars.length === 0 && withoutPages !== undefined) sidebars.push({ ...withoutPages, id: 'main' });
  const start = firstPage(navigation, isShown);
  const first = start === undefined ? undefined : places.get(start);
  const defaultPlace: NavigationPlace = {
    sidebar: first?.sidebar ?? sidebars[0]?.id ?? 'main',
    choices: first?.choices ?? [],
    groups: [],
    siblings: [],
  };
  return { places, defaultPlace, sidebars };
}

/** The first page of this part of the navigation: that of the default division, if there is one. */
export function firstPage(nodes: readonly NavigationNode[], isShown: (path: string) => boolean): string | undefined {
  const ordered = [...nodes].sort((a, b) => Number(isDefault(b)) - Number(isDefault(a)));
  for (const node of ordered) {
    if (node.kind === 'page' && isShown(node.path)) return node.path;
    if ((node.kind === 'group' || node.kind === 'division') && !node.hidden) {
      if (node.kind === 'group' && node.root !== undefined && isShown(node.root)) return node.root;
      const inside = firstPage(node.children, isShown);
      if (inside !== undefined) return inside;
    }
  }
  return undefined;
}

const isDefault = (node: NavigationNode): boolean => node.kind === 'division' && node.isDefault;
const tagOf = (tag: string | undefined): { g?: string } => (tag === undefined ? {} : { g: tag });
const withIcon = (entry: SidebarEntry, icon: string | undefined): SidebarEntry =>
  icon === undefined ? entry : { ...entry, i: icon };

/** Limit of the names of generated files in a folder of `_bindery/` (`expected-response.ts`). */
const longestId = 64;

/** An id made from titles instead of positions, so that a new division does not rename the others. It is a valid file name on every system. */
function uniqueId(titles: readonly string[], taken: Set<string>): string {
  const words = titles
    .join('-')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  const base =
    words === '' ? 'main' : bundlePathProblem(`${words}.js`.slice(-200)) === undefined ? words : `of-${words}`;
  let id = base.slice(0, longestId);
  for (let count = 2; taken.has(id); count++) {
    const mark = `-${count}`;
    id = base.slice(0, longestId - mark.length) + mark;
  }
  taken.add(id);
  return id;
}
