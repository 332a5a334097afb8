import type { ElementContent } from 'hast';
import { h } from '#shared/docs/render/content/content-tree.ts';
import type { BlockContent, Nodes, PhrasingContent } from 'mdast';
import { type ContentContext, writtenClasses } from '#shared/docs/render/content/content-context.ts';
import { namedIcon } from '#shared/docs/render/content/icon.ts';
import {
  type StaticElement,
  StaticNodes,
  type StaticProps,
  type StaticValue,
} from '#shared/docs/render/evaluate/static-tree.ts';

/** A built-in component. It reads only the props that it defines. */
export type Component = {
  html(element: StaticElement, context: ContentContext): ElementContent[];
  /** The component in the page's Markdown. Without this method, only its content is written. */
  markdown?(element: StaticElement, write: MarkdownWriter): Nodes[];
  /** True if the component may be the only content of a line and stay in a paragraph. */
  isInline?: true;
};

/** Components by the names that authors write. */
export type Components = Readonly<Record<string, Component>>;

/** Writes static nodes in plain Markdown. */
export type MarkdownWriter = {
  /** Writes nodes as blocks; lines of text between blocks become paragraphs. */
  blocks(nodes: readonly Nodes[]): BlockContent[];
  /** Writes nodes as one line; blocks contribute their text. */
  line(nodes: readonly Nodes[]): PhrasingContent[];
};

/** A prop that is a text or a number, as text. */
export function textProp(props: StaticProps, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = props.get(name);
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
  }
  return undefined;
}

/** True for `name`, `name={true}` and `name="true"`. */
export function flagProp(props: StaticProps, name: string): boolean {
  const value = props.get(name);
  return value === true || value === 'true' || value === '';
}

/** A prop that is a number or its text; undefined for any other value. */
export function numberProp(props: StaticProps, name: string): number | undefined {
  const value = props.get(name);
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** A prop that is a text or a list, as the texts in it. */
export function textsProp(props: StaticProps, name: string): string[] {
  const value = props.get(name);
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** Class names of a component's `className`. */
export function classesProp(props: StaticProps, context: ContentContext): string[] {
  const value = props.get('className');
  return typeof value === 'string' ? writtenClasses(value, context) : [];
}

/** HTML of a prop that may be text or JSX, such as a title. */
export function contentProp(value: StaticValue, context: ContentContext): ElementContent[] {
  return context.children(contentNodes(value));
}

/** The element's `icon` with its `iconType`: a name of a library, JSX, an emoji, or the address of a picture. */
export function iconProp(element: StaticElement, className: string, context: ContentContext): ElementContent[] {
  const { props } = element;
  const value = props.get('icon') ?? props.get('src');
  if (value instanceof StaticNodes)
    return [h('span', { className: ['icon', className] }, context.children(value.nodes))];
  if (typeof value !== 'string' || value.trim() === '') return [];
  return namedIcon({ name: value, type: textProp(props, 'iconType') }, className, context, element);
}

/** A hex or named colour or a CSS colour function; undefined for any other CSS. */
export function colorValue(value: StaticValue): string | undefined {
  if (typeof value !== 'string') return undefined;
  return /^(#[0-9a-f]{3,8}|[a-z]{3,20}|(rgb|rgba|hsl|hsla|oklch|oklab|lab|lch)\([\d\s.,%/deg-]{1,60}\))$/i.test(
    value.trim(),
  )
    ? value.trim()
    : undefined;
}

/** Elements with one of the names, including those in fragments and paragraphs. */
export function elementsNamed(nodes: readonly Nodes[], ...names: string[]): StaticElement[] {
  return nodes.flatMap((node): StaticElement[] => {
    if (node.type === 'staticElement') return names.includes(node.name) ? [node] : [];
    if (node.type === 'staticFragment' || node.type === 'paragraph') return elementsNamed(node.children, ...names);
    return [];
  });
}

/** A prop as static nodes, which are not HTML yet. */
export function contentNodes(value: StaticValue): Nodes[] {
  if (value instanceof StaticNodes) return value.nodes;
  if (typeof value === 'string' && value !== '') return [{ type: 'text', value }];
  return typeof value === 'number' ? [{ type: 'text', value: String(value) }] : [];
}

/** Text of static nodes, without emphasis and other marks. */
export function plainText(nodes: readonly Nodes[]): string {
  return nodes
    .map((node) =>
      'value' in node ? node.value : 'children' in node ? plainText(node.children) : node.type === 'break' ? '\n' : '',
    )
    .join('');
}

export const text = (value: string): PhrasingContent => ({ type: 'text', value });
export const strong = (children: PhrasingContent[]): PhrasingContent => ({ type: 'strong', children });
export const paragraph = (...children: PhrasingContent[]): BlockContent => ({ type: 'paragraph', children });

export const titleLine = ({ props }: StaticElement, write: MarkdownWriter): PhrasingContent[] =>
  write.line(contentNodes(props.get('title')));

/** Markdown of an element: the title in bold, then the content. */
export function titledMarkdown(element: StaticElement, write: MarkdownWriter): BlockContent[] {
  const title = titleLine(element, write);
  return [...(title.length > 0 ? [paragraph(strong(title))] : []), ...write.blocks(element.children)];
}
