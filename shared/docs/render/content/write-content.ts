import type { Element, Nodes, Properties } from 'hast';
import type { PictureSize } from '#shared/docs/project/picture-size.ts';
import { escapeHtmlText, SafeHtml } from '../html.ts';
import { contentElements, drawnElements, strippedElements } from '../sanitize/content-schema.ts';
import { type Around, endingParagraph, nameHere, top, within } from '../sanitize/place-elements.ts';
import {
  attributesText,
  linkAttributes,
  ordinaryAttributes,
  type ResolveAddress,
  safeProperties,
} from '../sanitize/safe-attributes.ts';
import { type Repeated, toText, type Typeset } from './content-tree.ts';
import { apartOf, PageSections, type Section } from './page-sections.ts';
import { keepRoom } from './picture-room.ts';

/** HTML that a browser reads as the tree that was meant, what is read of it by section, and its ids. */
export type WrittenContent = { html: SafeHtml; sections: Section[]; ids: string[] };

/** How addresses become those of the bundle. */
export type Addresses = {
  resolve: ResolveAddress;
  /** Of the picture at an address, as its author wrote it; undefined: it is not known. */
  sizeOf: (written: string) => PictureSize | undefined;
  /** What stands for a picture that has no address, if it says nothing itself. */
  missingImage: string;
};

export type WriteOptions = {
  /** Without them, addresses stay as they are. */
  addresses?: Addresses;
};

/**
 * Writes content: the one place where its elements become HTML, and so the one that makes them safe to show. Only elements and attributes of
 * the schema are written, addresses that the URL policy allows and harmless styles, and every element where HTML allows it. All text is escaped.
 * Changes nothing in the tree, so that its parts may be shared.
 */
export function writeContent(content: readonly Nodes[], options: WriteOptions = {}): WrittenContent {
  const writer = new ContentWriter(options);
  const html = writer.nodes(content, top);
  const { ids, sections } = writer.sections;
  return { html: new SafeHtml(html), ids, sections };
}

/** Elements without an end tag. */
export const voidElements: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta source track wbr'.split(' '),
);

class ContentWriter {
  readonly sections = new PageSections();
  readonly #options: WriteOptions;
  /** Whether what was written since this was last set to false ends a paragraph around it. */
  #endsParagraph = false;
  readonly #cellEnds = (): void => this.sections.text('\n');

  constructor(options: WriteOptions) {
    this.#options = options;
  }

  nodes(nodes: readonly Nodes[], around: Around): string {
    let html = '';
    for (const node of nodes) {
      if (node.type === 'element') html += this.#element(node, around);
      else if (node.type === 'text') html += this.#text(node.value, around);
      else if (node.type === 'typeset') html += this.#typeset(node, around);
      else if (node.type === 'repeated') html += this.#repeated(node, around);
    }
    return html;
  }

  /** Written once for all that are alike, where nothing around it changes what it becomes. */
  #repeated(node: Repeated, around: Around): string {
    const { id } = node;
    const { addresses } = this.#options;
    const isPlain = isPlainPlace(around) && plainId.test(id);
    const once = isPlain ? writtenOnce(node) : undefined;
    if (once === undefined || !this.sections.repeat(id, once.text)) return this.#element(node.element(id), around);
    addresses?.resolve('href', `#${id}`, linkToItself);
    this.#endsParagraph = true;
    return once.parts.join(id);
  }

  #text(value: string, around: Around): string {
    const before = around.part === undefined ? '' : around.part.enter('', value.trim() === '');
    if (before === undefined) return '';
    this.sections.text(value);
    return before + escapeHtmlText(value);
  }

  #typeset(node: Typeset, around: Around): string {
    const before = around.part === undefined ? '' : around.part.enter('', false);
    if (before === undefined) return '';
    this.sections.text(node.of === 'code' ? `${node.text}\n` : node.text);
    // Drawings have no HTML in them.
    return before + (around.inDrawing ? escapeHtmlText(node.text) : node.html().text);
  }

  #element(element: Element, around: Around): string {
    const { tagName, children } = element;
    if (strippedElements.has(tagName) || (around.inLink && isLinkToItself(element))) return '';
    let name = contentElements.has(tagName) ? nameHere(element, around) : undefined;
    if (name === undefined) return this.nodes(children, around);
    const { addresses } = this.#options;
    const ordinary = this.#ordinary(element, name);
    const properties = ordinary === undefined ? safeProperties(element, name, addresses?.resolve) : element.properties;
    if (name === 'img' && properties.src === undefined && addresses !== undefined)
      return this.#element(missingImage(properties, addresses), around);
    const source = name === 'img' ? element.properties.src : undefined;
    const size = typeof source === 'string' ? addresses?.sizeOf(source) : undefined;
    if (size !== undefined) keepRoom(properties, size);
    const before = around.part === undefined ? '' : around.part.enter(name, false);
    if (before === undefined) return '';

    const attributes = ordinary ?? attributesText(properties, drawnElements.has(name));
    const apart = apartOf(name, properties.className);
    if (apart.before) this.sections.text(' ');
    const outside = this.sections.begin(name, properties.id, !(name === 'p' && hasClass(properties, 'tab-title')));
    const endedBefore = this.#endsParagraph;
    this.#endsParagraph = false;
    const isVoid = voidElements.has(name);
    const inside = isVoid ? '' : this.#inside(name, children, within(name, around, this.#cellEnds));
    const endsParagraph = this.#endsParagraph;
    if (name === 'p' && endsParagraph) name = 'div';
    this.sections.end(name, outside);
    if (apart.after) this.sections.text(' ');
    // Inside of a button, a parser does not look for open paragraphs around it.
    this.#endsParagraph = endedBefore || endingParagraph.has(name) || (endsParagraph && name !== 'button');

    const start = `${before}<${name}${attributes}>`;
    if (isVoid) return children.length === 0 ? start : start + this.nodes(children, around);
    // A parser drops the first line end in this element.
    return `${start}${name === 'pre' && inside.startsWith('\n') ? '\n' : ''}${inside}</${name}>`;
  }

  #ordinary(element: Element, name: string): string | undefined {
    if (name !== 'a') return ordinaryAttributes(element, name);
    const resolve = this.#options.addresses?.resolve;
    return linkAttributes(element, (written) => (resolve === undefined ? written : resolve('href', written, element)));
  }

  #inside(name: string, children: readonly Nodes[], around: Around): string {
    if (name === 'iframe') return '';
    if (around.inDrawing && (name === 'title' || name === 'desc')) return escapeHtmlText(toText(children));
    const html = this.nodes(children, around);
    return around.part === undefined ? html : html + around.part.close();
  }
}

/** HTML of an element between the places of its id, and its text. */
type WrittenOnce = { parts: string[]; text: string };

/** Undefined: its id stands in other places, too. */
const writtenBefore = new WeakMap<object, WrittenOnce | 'never'>();

function writtenOnce({ alike, element }: Repeated): WrittenOnce | undefined {
  let once = writtenBefore.get(alike);
  if (once === undefined) {
    const writer = new ContentWriter({});
    const parts = writer.nodes([element(idToReplace)], top).split(idToReplace);
    once =
      parts.length === 3 && startOfBlock.test(parts[0] ?? '') ? { parts, text: writer.sections.firstText } : 'never';
    writtenBefore.set(alike, once);
  }
  return once === 'never' ? undefined : once;
}

const idToReplace = 'id-to-replace-5c1f';
/** A block ends the paragraph around it. */
const startOfBlock = /^<div [^<>]*id="$/;
/** It is the same in an address and in an attribute. */
const plainId = /^[\w.-]+$/;

const linkToItself: Element = { type: 'element', tagName: 'a', properties: {}, children: [] };

const isPlainPlace = ({ inTable, inDrawing, inLink, inButton, inHeading, part }: Around): boolean =>
  !inTable && !inDrawing && !inLink && !inButton && !inHeading && part === undefined;

/** Of a pair of pictures, light shows one and dark the other. */
const showsOrHides = /^(dark:)?(hidden|block|inline|inline-block|flex)$/;

/** A picture without a source becomes its description. */
function missingImage({ alt, className }: Properties, { missingImage }: Addresses): Element {
  const kept = Array.isArray(className) ? className.filter((name) => showsOrHides.test(name)) : [];
  const value = typeof alt === 'string' && alt !== '' ? alt : missingImage;
  const properties = { className: ['missing-image', ...kept] };
  return { type: 'element', tagName: 'span', properties, children: [{ type: 'text', value }] };
}

const hasClass = ({ className }: Properties, name: string): boolean =>
  Array.isArray(className) && className.includes(name);

/** Headings have a link to themselves. In another link there is no use for it. */
export const isLinkToItself = ({ tagName, properties }: Element): boolean =>
  tagName === 'a' && hasClass(properties, 'heading-anchor');
