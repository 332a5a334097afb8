import type { NavigationNode, PageEntry } from '#shared/docs/project/site-model.ts';
import type { SiteModelParts } from '#shared/docs/project/site-model-parts.ts';
import { skillDescription, skillName, skillText } from '#shared/docs/render/site/skill-file.ts';
import { siteBase } from '#shared/docs/render/bundle-paths.ts';

/** Name, pages and navigation of a documentation. */
export type DocsOutline = {
  name: string;
  description?: string | undefined;
  /** Address of the site without a slash at its end, if it is known. */
  address?: string | undefined;
  /** Pages that searches find, in the order of the navigation, then the others by path. */
  pages: readonly OutlinePage[];
  tree: readonly OutlineNode[];
  skills: readonly OutlineSkill[];
  /** Settings of the site's colours; absent if no content is known. */
  painted?: Pick<SiteModelParts['site']['settings'], 'colors' | 'background' | 'banner'>;
};

type OutlinePage = Pick<PageEntry, 'path' | 'title' | 'description' | 'language' | 'version'> & {
  /** Only readers of one of these groups may see it; empty for everyone. */
  groups: readonly string[];
};

/** A page (with `path`), or a part of the navigation. `kind`: `page`, `group`, or the kind of division, such as `tab` or `version`. */
export type OutlineNode = { kind: string; title: string; path?: string; children?: readonly OutlineNode[] };

/** Instructions for agents. `file`: `skill.md` of the project; `text`: that of another skill of it. Without both, the skill is made from the outline. */
export type OutlineSkill = {
  name: string;
  description: string;
  file?: { path: string; sha256: string };
  text?: string;
};

/** The outline of a content version with all pages, also those of groups, with its skill. Pure. */
export function docsOutline(parts: SiteModelParts): DocsOutline {
  const { site } = parts;
  const { colors, background, banner } = site.settings;
  const byPath = new Map<string, OutlinePage>();
  for (const { path, title, sidebarTitle, description, language, version, groups, searchable } of parts.pages())
    if (searchable) byPath.set(path, { path, title: sidebarTitle ?? title, description, language, version, groups });
  const shown = new Set<string>();
  const pageNode = (path: string, title?: string): OutlineNode[] => {
    const page = byPath.get(path);
    if (page === undefined) return [];
    shown.add(path);
    return [{ kind: 'page', title: title ?? page.title, path }];
  };
  const nodesOf = (nodes: readonly NavigationNode[]): OutlineNode[] =>
    nodes.flatMap((node): OutlineNode[] => {
      if (node.kind === 'link') return [];
      if (node.kind === 'page') return pageNode(node.path, node.title);
      const root = node.kind === 'group' && node.root !== undefined ? pageNode(node.root) : [];
      const children = [...root, ...nodesOf(node.children)];
      if (children.length === 0) return [];
      return [{ kind: node.kind === 'group' ? 'group' : node.division, title: node.title, children }];
    });
  const tree = nodesOf(site.navigation);
  const ordered = [...shown].flatMap((path) => byPath.get(path) ?? []);
  const others = [...byPath.values()].filter(({ path }) => !shown.has(path));
  return {
    name: site.settings.name,
    description: site.settings.description,
    address: siteBase(site.settings),
    pages: [...ordered, ...others],
    tree: [...tree, ...others.map(({ path, title }) => ({ kind: 'page', title, path }))],
    skills: skillsOf(site),
    painted: { colors, background, banner },
  };
}

/** The skill that the project has as `skill.md`, or else the one that is made from the outline; then those of its folders. */
function skillsOf({ settings, assets, agentSkills = [] }: SiteModelParts['site']): OutlineSkill[] {
  const own = assets.find(({ path }) => path.toLowerCase() === 'skill.md');
  const first: OutlineSkill = {
    ...{ name: skillName(settings.name), description: skillDescription(settings) },
    ...(own === undefined ? {} : { file: { path: own.path, sha256: own.sha256 } }),
  };
  const isNamed = agentSkills.some(({ name }) => name === first.name);
  return isNamed ? agentSkills : [first, ...agentSkills];
}

/** The outline as readers of some groups may see it. Parts of the navigation without a page for them are left out. Pure. */
export function outlineFor(outline: DocsOutline, groups: readonly string[]): DocsOutline {
  const isOpen = (page: OutlinePage): boolean =>
    page.groups.length === 0 || page.groups.some((group) => groups.includes(group));
  const pages = outline.pages.filter(isOpen);
  if (pages.length === outline.pages.length) return outline;
  const paths = new Set(pages.map(({ path }) => path));
  return { ...outline, pages, tree: nodesWith(outline.tree, ({ path }) => paths.has(path)) };
}

/**
 * The text of the skill that is made from an outline. A part of it is the innermost part of the navigation that has a page itself. Pure.
 */
export function skillOfOutline(outline: DocsOutline): string {
  const { name, description, address = '', pages, tree } = outline;
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const parts: { title: string; pages: OutlinePage[] }[] = [];
  const read = (nodes: readonly OutlineNode[], title: string): void => {
    const own = nodes.flatMap(({ path }) => (path === undefined ? [] : (byPath.get(path) ?? [])));
    if (own.length > 0) parts.push({ title, pages: own });
    for (const node of nodes) if (node.children !== undefined) read(node.children, node.title);
  };
  read(tree, '');
  return skillText({ name, description, address, hasMcp: true, parts });
}

/** The nodes with a page that `isWanted` accepts, and only such pages in them. Pure. */
export function nodesWith(
  nodes: readonly OutlineNode[],
  isWanted: (page: OutlineNode & { path: string }) => boolean,
): OutlineNode[] {
  return nodes.flatMap((node): OutlineNode[] => {
    const { path, children } = node;
    if (path !== undefined) return isWanted({ ...node, path }) ? [node] : [];
    const kept = nodesWith(children ?? [], isWanted);
    return kept.length === 0 ? [] : [{ ...node, children: kept }];
  });
}
