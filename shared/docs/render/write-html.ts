import type { Element, Nodes, Properties } from 'hast';
import type { Raw } from 'mdast-util-to-hast';
import { find, html as htmlNames, type Info, type Schema, svg as svgNames } from 'property-information';
import { escapeHtml, escapeHtmlText, SafeHtml } from './html.ts';

/** Elements without an end tag. */
const voidElements: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta source track wbr'.split(' '),
);
/** Parsers read what is inside as text without escapes, up to the end tag. */
const rawTextElements = new Set('iframe noembed noframes noscript plaintext script style xmp'.split(' '));
/** The same with escapes. */
const escapedTextElements = new Set(['title', 'textarea']);

/**
 * A tree of elements as HTML that a parser reads as that tree. `<` and `>` are escaped in attributes too, so that no value can end an
 * element, wherever the text is put later. Nodes of the type `raw` are written as they are: only our own code makes them. Elements that
 * hold raw text get nothing else, `title` only text. Throws for a name that no element or attribute can have.
 */
export function writeHtml(tree: Nodes): SafeHtml {
  return new SafeHtml(nodeText(tree, htmlNames));
}

/** A picture as a file of its own, by the rules of XML. */
export function writeSvg(picture: Element): string {
  const { xmlns: _1, xmlnsXLink: _2, ...properties } = picture.properties;
  const named = { xmlns: 'http://www.w3.org/2000/svg', xmlnsXLink: 'http://www.w3.org/1999/xlink', ...properties };
  return `${elementText({ ...picture, properties: named }, svgNames)}\n`;
}

function nodeText(node: Nodes, names: Schema): string {
  switch (node.type) {
    case 'root':
      return childrenText(node.children, names);
    case 'text':
      return escapeHtmlText(node.value);
    case 'element':
      return elementText(node, names);
    case 'raw':
      return node.value;
    default:
      return '';
  }
}

const isRaw = (node: Nodes): node is Raw => node.type === 'raw';

const childrenText = (children: readonly Nodes[], names: Schema): string =>
  children.map((child) => nodeText(child, names)).join('');

function elementText({ tagName, properties, children }: Element, around: Schema): string {
  const names = tagName === 'svg' ? svgNames : around;
  const isHtml = names.space === 'html';
  const start = `<${checked(tagName)}${attributesText(properties, names)}>`;
  if (isHtml && voidElements.has(tagName)) return start;
  const end = `</${tagName}>`;
  if (isHtml && rawTextElements.has(tagName)) return start + childrenText(children.filter(isRaw), names) + end;
  if (escapedTextElements.has(tagName)) return start + escapeHtmlText(textOf(children)) + end;
  const inside = childrenText(children, names);
  // A parser drops the first line end in this element.
  return start + (tagName === 'pre' && inside.startsWith('\n') ? '\n' : '') + inside + end;
}

function attributesText(properties: Properties, names: Schema): string {
  let text = '';
  for (const [property, value] of Object.entries(properties)) {
    const { attribute, boolean, overloadedBoolean, commaSeparated } = attributeInfo(names, property);
    if (value === undefined || value === null || value === false || Number.isNaN(value)) continue;
    if ((boolean || overloadedBoolean) && value === 0) continue;
    const isFlag = value === true || (boolean && (value === '' || value === attribute || typeof value === 'number'));
    const written = Array.isArray(value) ? value.join(commaSeparated ? ', ' : ' ') : String(value);
    const flag = names.space === 'html' ? '' : '=""';
    text += ` ${checked(attribute)}${isFlag ? flag : `="${escapeHtml(written)}"`}`;
  }
  return text;
}

/** What is known of a property. Those that are known by this very name need no search. */
function attributeInfo(names: Schema, property: string): Info {
  return (Object.hasOwn(names.property, property) ? names.property[property] : undefined) ?? find(names, property);
}

/** Names that elements and attributes can have. */
const isName = (name: string): boolean => /^[a-z][a-z0-9_.:-]*$/i.test(name);

function checked(name: string): string {
  if (!isName(name)) throw new Error(`no element or attribute can be called ${JSON.stringify(name)}`);
  return name;
}

const textOf = (nodes: readonly Nodes[]): string =>
  nodes.map((node) => (node.type === 'text' ? node.value : 'children' in node ? textOf(node.children) : '')).join('');
