import type { Nodes, PhrasingContent } from 'mdast';
import type { Endpoint } from './open-slice.ts';
import type { StaticElement, StaticValue } from '#shared/docs/render/evaluate/static-tree.ts';

/** A component or HTML element of generated content; props without a value are left out. */
export const element = (name: string, props: Record<string, StaticValue>, children: Nodes[] = []): StaticElement => ({
  type: 'staticElement',
  name,
  props: new Map(Object.entries(props).filter(([, value]) => value !== undefined)),
  children,
});

export const text = (value: string): PhrasingContent => ({ type: 'text', value });

export const code = (value: string): PhrasingContent => ({ type: 'inlineCode', value });

export const paragraph = (...children: Nodes[]): Nodes => ({ type: 'paragraph', children: children as [] });

export const strong = (value: string): Nodes => paragraph({ type: 'strong', children: [{ type: 'text', value }] });

/** `id` is the heading's anchor, which is the same in all languages. */
export const heading = (title: string, id: string, depth: 2 | 3 = 2): Nodes => ({
  type: 'heading',
  depth,
  children: [{ type: 'text', value: title }],
  data: { id },
});

/** A line with the endpoint for the Markdown of a page; in HTML the head of the page shows it. */
export const endpointLine = ({ method, address }: Endpoint): Nodes =>
  element('Visibility', { for: 'agents' }, [paragraph(code(`${method} ${address}`))]);

/** Addresses, each with its description. */
export const addressList = (items: readonly { url: string; description: string | undefined }[]): Nodes => ({
  type: 'list',
  children: items.map(({ url, description }) => ({
    type: 'listItem' as const,
    children: [paragraph(code(url), ...(description === undefined ? [] : [text(` – ${description}`)])) as never],
  })),
});

/** The inline nodes of a one-line description. */
export const inlineOf = (nodes: Nodes[]): Nodes[] =>
  nodes.flatMap((node) => (node.type === 'paragraph' ? node.children : 'children' in node ? node.children : [node]));
