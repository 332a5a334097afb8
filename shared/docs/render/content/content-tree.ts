import type { Element, ElementContent, Nodes, Properties } from 'hast';
import type { SafeHtml } from '../html.ts';

/** Coloured code or a formula, as HTML. Such nodes are never made from an author's HTML. */
export type Typeset = {
  type: 'typeset';
  of: 'code' | 'formula';
  /** The HTML is made on demand, because some nodes are never written. */
  html: () => SafeHtml;
  /** Plain text of the code or formula. */
  text: string;
};

/** An element that occurs on many pages of a site, each time with another id: as its `id`, and in a link to itself. */
export type Repeated = {
  type: 'repeated';
  id: string;
  /** The same object for all elements that differ only in their id. They contain no other address, and no code, formula or drawing. */
  alike: object;
  /** The element with an id. The same id gives the same element. */
  element: (id: string) => Element;
};

declare module 'hast' {
  interface RootContentMap {
    typeset: Typeset;
    repeated: Repeated;
  }
  interface ElementContentMap {
    typeset: Typeset;
    repeated: Repeated;
  }
}

export type Child = ElementContent | string | null | undefined | readonly Child[];

/** Makes an element. Unlike hastscript's `h`, it takes properties only by their own names, so that it needs no lookups and no parsing. */
export function h(tagName: string, properties: Properties, children?: Child): Element;
export function h(tagName: string, children?: Child): Element;
export function h(tagName: string, first?: Properties | Child, second?: Child): Element {
  const element: Element = { type: 'element', tagName, properties: {}, children: [] };
  if (isProperties(first)) {
    element.properties = first;
    addTo(element.children, second);
  } else addTo(element.children, first);
  return element;
}

function isProperties(first: Properties | Child): first is Properties {
  if (typeof first !== 'object' || first === null || Array.isArray(first)) return false;
  const { type } = first as { type?: unknown };
  return type !== 'element' && type !== 'text' && type !== 'typeset' && type !== 'repeated';
}

function addTo(children: ElementContent[], child: Child): void {
  if (child === null || child === undefined) return;
  if (typeof child === 'string') children.push({ type: 'text', value: child });
  else if ('type' in child) children.push(child);
  else for (const each of child) addTo(children, each);
}

/** Visible text of a tree, without code blocks. */
export function toText(nodes: readonly Nodes[]): string {
  let text = '';
  for (const node of nodes) {
    if (node.type === 'text') text += node.value;
    else if (node.type === 'typeset') text += node.of === 'formula' ? node.text : '';
    else if (node.type === 'repeated') text += toText([node.element(node.id)]);
    else if ('children' in node)
      text += node.type === 'element' && node.tagName === 'br' ? '\n' : toText(node.children);
  }
  return text;
}
