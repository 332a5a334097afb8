import type { Element, Nodes, Root } from 'hast';
import type { Raw } from 'mdast-util-to-hast';
import { codeSlot } from '#shared/docs/render/code/code-block.ts';
import type { ContentContext } from './content-context.ts';

export type Section = { anchor: string; heading: string; text: string };

const blockTags = new Set(
  `address article aside blockquote details div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul video iframe`.split(
    /\s+/,
  ),
);
/** Not part of the text of a page. */
const unreadTags = new Set(['svg', 'button', 'style']);
const notInHeadings = new Set([...unreadTags, 'br']);
const maxText = 200_000;

/**
 * Last pass over sanitized content. It puts coloured code and formulas in their places, and collects the page's sections for search and its ids.
 */
export function finishContent(tree: Root, codes: ContentContext['codes']) {
  const sections: Section[] = [{ anchor: '', heading: '', text: '' }];
  const ids: string[] = [];
  let length = 0;

  const addText = (text: string): void => {
    const section = sections.at(-1);
    if (section === undefined || length > maxText) return;
    length += text.length;
    section.text += text;
  };

  const fillSlot = (node: Element): ContentContext['codes'][number] | undefined => {
    const slot = node.properties[codeSlot];
    const code = slot === undefined ? undefined : codes[Number(slot)];
    delete node.properties[codeSlot];
    if (code === undefined || (node.tagName !== 'code' && node.tagName !== 'span')) return undefined;
    node.children = [{ type: 'raw', value: code.html() } satisfies Raw];
    return code;
  };

  const walk = (node: Nodes): void => {
    if (node.type === 'text') addText(node.value);
    if (node.type === 'root') node.children.forEach(walk);
    if (node.type !== 'element') return;
    const { properties, tagName } = node;
    if (typeof properties.id === 'string') ids.push(properties.id);
    if (unreadTags.has(tagName) || (tagName === 'p' && hasClass(node, 'tab-title'))) return;
    if (properties[codeSlot] !== undefined) {
      const code = fillSlot(node);
      if (code !== undefined) addText(tagName === 'code' ? `${code.text}\n` : code.text);
      return;
    }
    const startsSection = /^h[1-4]$/.test(tagName) && typeof properties.id === 'string';
    if (startsSection) {
      sections.push({
        anchor: String(properties.id),
        heading: toText(node.children, notInHeadings).trim(),
        text: '',
      });
      eachElement({ type: 'root', children: node.children }, fillSlot);
    } else for (const child of node.children) walk(child);
    if (blockTags.has(tagName) || tagName === 'li' || tagName === 'br' || tagName === 'td' || tagName === 'th')
      addText('\n');
  };
  walk(tree);
  const made = sections
    .map((section) => ({
      ...section,
      text: section.text
        .replace(/[ \t]{2,}|\t/g, ' ')
        .replace(/\s*\n\s*/g, '\n')
        .trim(),
    }))
    .filter((section) => section.heading !== '' || section.text !== '');
  return { sections: made, ids };
}

const hasClass = (node: Element, name: string): boolean =>
  Array.isArray(node.properties.className) && node.properties.className.includes(name);

/** Calls `visit` for each element of a tree, parents before what is in them. */
export function eachElement(parent: Root | Element, visit: (element: Element) => void): void {
  for (const child of parent.children) {
    if (child.type !== 'element') continue;
    visit(child);
    eachElement(child, visit);
  }
}

/** Text of a tree as a reader sees it, blocks apart. */
export function toText(nodes: readonly Nodes[], unread: ReadonlySet<string> = new Set()): string {
  return nodes
    .map((node) => {
      if (node.type === 'text') return node.value;
      if (!('children' in node) || (node.type === 'element' && unread.has(node.tagName))) return '';
      return node.type === 'element' && node.tagName === 'br' ? '\n' : toText(node.children, unread);
    })
    .join('');
}
