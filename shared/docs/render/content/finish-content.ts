import type { Element, ElementContent, Nodes, Root } from 'hast';
import { CODE_SLOT } from '#shared/docs/render/code/code-block.ts';
import type { ContentContext } from './content-context.ts';

export type Section = { anchor: string; heading: string; text: string };

const BLOCKS = new Set(
  `address article aside blockquote details div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul video iframe`.split(
    /\s+/,
  ),
);
/** Not part of the text of a page. */
const UNREAD = new Set(['svg', 'button', 'style']);
const NOT_IN_HEADINGS = new Set([...UNREAD, 'br']);
const MAX_TEXT = 200_000;

/**
 * Last pass over sanitized content. It puts coloured code in its place and turns paragraphs that contain blocks into divisions, because
 * browsers would end them early. Collects the page's sections for search, its classes and its ids.
 */
export function finishContent(tree: Root, codes: ContentContext['codes']) {
  const sections: Section[] = [{ anchor: '', heading: '', text: '' }];
  const classes = new Set<string>();
  const ids: string[] = [];
  let length = 0;

  const addText = (text: string): void => {
    const section = sections.at(-1);
    if (section === undefined || length > MAX_TEXT) return;
    length += text.length;
    section.text += text;
  };

  const walk = (node: Nodes): void => {
    if (node.type === 'text') addText(node.value);
    if (node.type === 'root') node.children.forEach(walk);
    if (node.type !== 'element') return;
    const { properties, tagName } = node;
    if (Array.isArray(properties.className)) for (const name of properties.className) classes.add(name);
    if (typeof properties.id === 'string') ids.push(properties.id);
    if (UNREAD.has(tagName) || (tagName === 'p' && hasClass(node, 'tab-title'))) return;
    const slot = properties[CODE_SLOT];
    if (slot !== undefined) {
      const code = codes[Number(slot)];
      delete properties[CODE_SLOT];
      if (code === undefined) return;
      node.children = [{ type: 'raw', value: code.html } as unknown as ElementContent];
      addText(`${code.text}\n`);
      return;
    }
    const startsSection = /^h[1-4]$/.test(tagName) && typeof properties.id === 'string';
    if (startsSection)
      sections.push({
        anchor: String(properties.id),
        heading: toText(node.children, NOT_IN_HEADINGS).trim(),
        text: '',
      });
    else for (const child of node.children) walk(child);
    if (BLOCKS.has(tagName) || tagName === 'li' || tagName === 'br' || tagName === 'td' || tagName === 'th')
      addText('\n');
    if (tagName === 'p' && node.children.some(hasBlock)) node.tagName = 'div';
  };
  walk(tree);
  const made = sections
    .map((section) => ({
      ...section,
      text: section.text
        .replace(/[ \t]+/g, ' ')
        .replace(/\s*\n\s*/g, '\n')
        .trim(),
    }))
    .filter((section) => section.heading !== '' || section.text !== '');
  return { sections: made, classes: [...classes], ids };
}

const hasClass = (node: Element, name: string): boolean =>
  Array.isArray(node.properties.className) && node.properties.className.includes(name);

const hasBlock = (node: ElementContent): boolean =>
  node.type === 'element' && (BLOCKS.has(node.tagName) || (!UNREAD.has(node.tagName) && node.children.some(hasBlock)));

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
