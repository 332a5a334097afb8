import type { Element, Nodes, Properties } from 'hast';
import { classifyUrl, rootedPath } from '#shared/docs/project/url-policy.ts';
import { toText } from '#shared/docs/render/content/content-tree.ts';
import { mostLinkCharacters, mostLinks, mostTargetCharacters } from './cut-limits.ts';

/** A link on a page: the `/`-rooted path of its target, as its author wrote it, and its text. */
export type WrittenLink = { target: string; text: string };

/** The links of a page to others of its site, in order. `file` is its path in the project. */
export function linksOf(
  content: readonly Nodes[],
  file: string,
  isHidden: (properties: Properties) => boolean,
): WrittenLink[] {
  const links: WrittenLink[] = [];
  const visit = (nodes: readonly Nodes[]): void => {
    for (const node of nodes) {
      if (links.length === mostLinks) return;
      if (node.type === 'element' && isHidden(node.properties)) continue;
      if (node.type === 'element' && node.tagName === 'a') {
        const link = linkOf(node, file);
        if (link !== undefined) links.push(link);
      } else if ('children' in node) visit(node.children);
    }
  };
  visit(content);
  return links;
}

function linkOf({ properties, children }: Element, file: string): WrittenLink | undefined {
  if (typeof properties.href !== 'string') return undefined;
  const url = classifyUrl(properties.href);
  if (url.kind !== 'path' || url.path === '') return undefined;
  const text = toText(children).replace(/\s+/g, ' ').trim();
  if (text === '' || text.length > mostLinkCharacters) return undefined;
  // A relative link to a source file means the page of that file, as in an export.
  const target = rootedPath(url.path.startsWith('/') ? url.path : url.path.replace(/\.md$/i, ''), file);
  return target.length > mostTargetCharacters ? undefined : { target, text };
}
