import { divisionLists } from '#shared/docs/format/navigation.ts';
import type { FindingCode } from '#shared/docs/findings/finding-texts.ts';
import { archivePathProblem } from '#shared/export/bundle/archive-names.ts';
import { InvalidProject, quoted, type Report } from './diagnostics.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectOf, objectsOf, textOf } from './json-values.ts';
import { iconOf } from './read-icons.ts';
import { isExternalHref, isSafeHref } from './url-policy.ts';
import type { NavigationNode, PageEntry } from './site-model.ts';
import type { SiteReference } from '#shared/docs/reference/site-reference.ts';
import { sourceOf, type SpecificationSource } from '#shared/docs/reference/specification-files.ts';

const maxLevels = 32;
const methods = /^(?:(\S+)\s+)?(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|QUERY|WEBHOOK)\s+\S/i;
/** Interface descriptions that no pages are made from. */
const otherSpecKeys = ['graphql', 'sdk'] as const;

/** A place of a page in the navigation, with its visibility, language and version. */
export type PagePlace = {
  hidden: boolean;
  /** `searchable` of the nearest enclosing node that has it. */
  searchable: boolean | undefined;
  language: string | undefined;
  version: string | undefined;
  /** `openapi` of the nearest enclosing node that has it. */
  source: SpecificationSource;
};

export type ReadNavigation = {
  nodes: NavigationNode[];
  places: Map<string, PagePlace[]>;
  /**
   * Completes nodes that name API descriptions beside entries of their own: if no page below is about one of these descriptions, pages for all their
   * operations and channels are appended. `shownBy` returns the description that a page of the project is about. Call it once, when the pages have
   * been read.
   */
  addOperations: (shownBy: (page: string) => string | undefined) => void;
};

type Around = PagePlace & { level: number };

/**
 * `navigation` of docs.json as nodes, with the places of the pages. `pageAt` returns the page path for a name in an entry (`guides/x`), or undefined
 * if there is no such file. Entries that cannot be shown are reported and left out. Throws `InvalidProject` if there is no navigation, or more than
 * 32 levels.
 */
export function readNavigation(
  navigation: JsonValue | undefined,
  file: string,
  pageAt: (named: string) => string | undefined,
  report: Report,
  reference: Pick<SiteReference, 'filesOf' | 'pageOf' | 'pagesOfAll' | 'pagesOfChannels' | 'pages' | 'preset'>,
): ReadNavigation {
  if (typeof navigation !== 'object' || navigation === null) {
    const what =
      navigation === undefined || navigation === null
        ? 'has no "navigation". Add it'
        : 'has a "navigation" that is not an object. Correct it';
    const message = `${file} ${what}, for example "navigation": { "pages": ["index"] }.`;
    throw new InvalidProject('missing-setting', file, message);
  }
  const places = new Map<string, PagePlace[]>();
  const beside: { node: JsonObject; children: NavigationNode[]; around: Around }[] = [];
  const warn = (code: FindingCode, message: string): void => report({ severity: 'warning', code, message, file });

  function childrenOf(node: JsonObject, around: Around): NavigationNode[] {
    if (around.level > maxLevels) {
      const message = `The navigation in ${file} is nested deeper than ${maxLevels} levels. Make it flatter.`;
      throw new InvalidProject('config-too-deep', file, message);
    }
    const inner = { ...around, level: around.level + 1 };
    const nodes = [...entries(node['groups'], inner), ...entries(node['pages'], inner)];
    for (const [list, kind] of divisionLists) {
      for (const division of objectsOf(node[list])) nodes.push(...divisionOf(division, kind, inner));
    }
    return nodes;
  }

  function entries(value: JsonValue | undefined, around: Around): NavigationNode[] {
    return (Array.isArray(value) ? value : []).flatMap((entry) => {
      if (typeof entry === 'string' && methods.test(entry.trim())) return operationOf(entry.trim(), around);
      else if (typeof entry === 'string') return pageOf(entry, around);
      else if (isJsonObject(entry)) return groupOf(entry, around);
      else
        warn(
          'bad-navigation-entry',
          `An entry of the navigation is ${quoted(JSON.stringify(entry))}. Name a page or a group.`,
        );
      return [];
    });
  }

  function operationOf(entry: string, around: Around): NavigationNode[] {
    const path = reference.pageOf(entry, around.source);
    if (path === undefined) return [];
    place(path, around);
    return [{ kind: 'page', path }];
  }

  /** Content of a node: its own entries, or if it has none, all operations and channels of the API descriptions that it names. */
  function contentOf(node: JsonObject, title: string, around: Around): NavigationNode[] {
    const children = childrenOf(node, around);
    if (children.length > 0) {
      if (sourceOf(node['openapi']) ?? sourceOf(node['asyncapi'])) beside.push({ node, children, around });
      return children;
    }
    if (otherSpecKeys.some((key) => node[key] !== undefined)) apiPagesLeftOut(title);
    return apiPagesOf(node, around);
  }

  /** Pages for all operations, grouped by their tags, and for all channels. */
  function apiPagesOf(node: JsonObject, around: Around): NavigationNode[] {
    const placed = (pages: readonly string[]): NavigationNode[] =>
      pages.map((path) => {
        place(path, around);
        return { kind: 'page', path };
      });
    const [operations, channels] = [sourceOf(node['openapi']), sourceOf(node['asyncapi'])];
    const groups = operations === undefined ? [] : reference.pagesOfAll(operations);
    return [
      ...groups.flatMap(({ title, pages }): NavigationNode[] => {
        const nodes = placed(pages);
        return title === undefined ? nodes : [{ kind: 'group', title, hidden: false, children: nodes }];
      }),
      ...(channels === undefined ? [] : placed(reference.pagesOfChannels(channels))),
    ];
  }

  function addOperations(shownBy: (page: string) => string | undefined): void {
    // Inner nodes come first, so that nodes around them see the pages made for them.
    for (const { node, children, around } of beside) {
      const files = new Set(reference.filesOf(sourceOf(node['openapi']), sourceOf(node['asyncapi'])));
      const isShown = (page: string): boolean =>
        files.has(reference.pages.get(page)?.file ?? '') || files.has(shownBy(page) ?? '');
      const isBelow = (nodes: readonly NavigationNode[]): boolean =>
        nodes.some((each) => {
          if (each.kind === 'page') return isShown(each.path);
          if (each.kind === 'link') return false;
          return (each.kind === 'group' && each.root !== undefined && isShown(each.root)) || isBelow(each.children);
        });
      if (!isBelow(children)) children.push(...apiPagesOf(node, around));
    }
  }

  function pageOf(entry: string, around: Around): NavigationNode[] {
    const named = entry.trim();
    if (isExternalHref(named)) {
      if (isSafeHref(named)) return [{ kind: 'link', title: named.replace(/^https?:\/\//, ''), href: named }];
      const message = `The navigation names ${quoted(named)}, which is not an address that a page may link to. Remove it.`;
      warn('bad-link', message);
      return [];
    }
    const [path = '', anchor] = named.replace(/^\//, '').replace(/\/$/, '').split('#', 2);
    const target = path === '' && named.startsWith('/') ? 'index' : path.replace(/\.mdx?$/, '');
    const problem = archivePathProblem(target);
    if (problem || !isSafeHref(target)) {
      const why = problem ?? 'is not a path';
      const message = `The navigation names the page ${quoted(named)}, which ${why}. Name a file of this project.`;
      warn('bad-navigation-entry', message);
      return [];
    }
    const page = pageAt(target);
    if (page === undefined) {
      const message = `The navigation names the page ${quoted(target)}, but there is no file ${quoted(`${target}.mdx`)}. Add the file, or remove the entry.`;
      warn('missing-page', message);
      return [];
    }
    if (anchor) return [{ kind: 'link', title: anchor.replaceAll('-', ' '), href: `/${page}#${anchor}` }];
    place(page, around);
    return [{ kind: 'page', path: page }];
  }

  function groupOf(group: JsonObject, around: Around): NavigationNode[] {
    const division = divisionLists.find(
      ([, kind]) => textOf(group[kind]) !== undefined && group['group'] === undefined,
    );
    if (division) return divisionOf(group, division[1], around);
    if (textOf(group['page']) !== undefined && group['pages'] === undefined)
      return pageOf(textOf(group['page']) ?? '', around);
    const inner = inside(group, around);
    const title = textOf(group['group']) ?? '';
    const misnamed = group['group'] === undefined ? ['groups', 'title', 'name', 'label'] : [];
    const key = misnamed.find((each) => textOf(group[each]) !== undefined);
    if (key !== undefined) {
      const name = quoted(textOf(group[key]) ?? '');
      warn(
        'bad-navigation-entry',
        `A group of the navigation has no heading: write "group": ${name} in place of "${key}".`,
      );
    }
    const children = contentOf(group, title, inner);
    const root = rootOf(group, inner);
    if (children.length === 0 && root === undefined) return [];
    const expanded = group['expanded'] ?? (typeof group['collapsed'] === 'boolean' ? !group['collapsed'] : undefined);
    return [
      {
        kind: 'group' as const,
        title,
        icon: iconOf(group),
        tag: textOf(group['tag']),
        root,
        expanded: typeof expanded === 'boolean' ? expanded : undefined,
        hidden: group['hidden'] === true,
        children,
      },
    ];
  }

  function divisionOf(node: JsonObject, division: (typeof divisionLists)[number][1], around: Around): NavigationNode[] {
    const title = textOf(node[division]) ?? '';
    const inner = {
      ...inside(node, around),
      ...(division === 'language' ? { language: title } : {}),
      ...(division === 'version' ? { version: title } : {}),
    };
    const children = contentOf(node, title, inner);
    let href = textOf(node['href']);
    if (href !== undefined && !isSafeHref(href)) {
      const message = `"href" of the ${division} ${quoted(title)} is ${quoted(href)}, which is not an address that a page may link to.`;
      warn('bad-link', message);
      href = undefined;
    }
    if (children.length === 0 && href === undefined) return [];
    return [
      {
        kind: 'division' as const,
        division,
        title,
        icon: iconOf(node),
        description: textOf(node['description']),
        tag: textOf(node['tag']),
        href,
        isDefault: node['default'] === true,
        hidden: node['hidden'] === true,
        children,
      },
    ];
  }

  function rootOf(group: JsonObject, around: Around): string | undefined {
    const named = textOf(group['root']);
    const node = named === undefined ? undefined : pageOf(named, around)[0];
    return node?.kind === 'page' ? node.path : undefined;
  }

  function place(page: string, { hidden, searchable, language, version, source }: Around): void {
    const known = places.get(page) ?? [];
    known.push({ hidden, searchable, language, version, source });
    places.set(page, known);
  }

  function apiPagesLeftOut(title: string): void {
    const message = `Pages are made from OpenAPI and AsyncAPI descriptions; all of ${quoted(title)} is left out. Write pages for it.`;
    warn('api-pages-not-rendered', message);
  }

  const root: JsonObject = Array.isArray(navigation) ? { pages: navigation } : navigation;
  const top: Around = inside(root, {
    level: 0,
    hidden: false,
    searchable: undefined,
    language: undefined,
    version: undefined,
    source: reference.preset,
  });
  const nodes = contentOf(root, '', top);
  const common = childrenOf(objectOf(root['global']), top);
  return {
    nodes,
    places,
    addOperations(shownBy) {
      addOperations(shownBy);
      nodes.push(...common);
    },
  };
}

function inside(node: JsonObject, around: Around): Around {
  const { hidden, searchable } = node;
  return {
    ...around,
    hidden: around.hidden || hidden === true,
    searchable: typeof searchable === 'boolean' ? searchable : around.searchable,
    source: sourceOf(node['openapi']) ?? around.source,
  };
}

/** Inserts the titles of pages into the navigation, and links in place of pages that are only a link. */
export function withTitles(
  nodes: readonly NavigationNode[],
  pages: ReadonlyMap<string, PageEntry>,
  links: ReadonlyMap<string, NavigationNode>,
): NavigationNode[] {
  return nodes.flatMap((node): NavigationNode[] => {
    if (node.kind === 'link') return [node];
    if (node.kind !== 'page') return [{ ...node, children: withTitles(node.children, pages, links) }];
    const link = links.get(node.path);
    const page = pages.get(node.path);
    if (link || !page) return link ? [link] : [];
    return [{ ...node, title: page.sidebarTitle ?? page.title, icon: page.icon, tag: page.tag }];
  });
}
