import { present } from './config-fields.ts';
import type { NavigationNode, PageEntry } from './site-model.ts';

/** Puts the titles of the pages into their places, and links where a page is nothing but one. */
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
    return [present({ ...node, title: page.sidebarTitle ?? page.title, icon: page.icon, tag: page.tag })];
  });
}
