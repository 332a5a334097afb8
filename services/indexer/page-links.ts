import type { Element, Nodes, Properties } from 'hast';
import { classifyUrl } from '#shared/docs/project/url-policy.ts';
import { toText } from '#shared/docs/render/content/content-tree.ts';

/** A link that a page shows: `/`-rooted path of its target, as its author wrote it, and the words that are shown for it. */
export type WrittenLink = { target: string; text: string };

/** Of more links a page is a list, and says little about what it lists. */
export const mostLinks = 500;
/** Longer ones are sentences and paragraphs, no names. */
export const mostLinkCharacters = 100;
/** Programs on the way of a longer address refuse it. */
export const mostTargetCharacters = 2_000;

/** The links of a page to others of its site, in their order. `file` is its path in the project. */
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
  // A relative one to a source file means its page, as in an export.
  const target = rooted(url.path.startsWith('/') ? url.path : url.path.replace(/\.md$/i, ''), file);
  return target.length > mostTargetCharacters ? undefined : { target, text };
}

/** From the top or from the folder of the page's file, with a slash in front. */
function rooted(path: string, file: string): string {
  const parts = path.startsWith('/') ? [] : file.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
