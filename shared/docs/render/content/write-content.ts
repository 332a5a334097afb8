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

/** HTML that a browser parses to the intended tree, its text by section, and its ids. */
export type WrittenContent = { html: SafeHtml; sections: Section[]; ids: string[] };

/** Converts addresses to those of the bundle. */
export type Addresses = {
  resolve: ResolveAddress;
  /** Size of the picture at an address, as its author wrote it; undefined if it is unknown. */
  sizeOf: (written: string) => PictureSize | undefined;
  /** Placeholder for a picture without an address and a description. */
  missingImage: string;
};

export type WriteOptions = {
  /** Without this, addresses stay unchanged. */
  addresses?: Addresses;
};

/**
 * Writes content as HTML, and is the only place that does so. It therefore also makes content safe: it writes only elements and attributes of the
 * schema, addresses that the URL policy allows, harmless styles, and every element only where HTML allows it. All text is escaped. The tree is not
 * changed, so that its parts may be shared.
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
  /** True if an element that ends a surrounding paragraph was written since this was last set to false. */
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

  /**
   * Writes an element that is repeated. Its HTML is cached for all elements that differ only in their id, unless its surroundings change the HTML.
   */
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
    // Drawings contain no HTML.
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
    // Inside a button, a parser does not look for an open paragraph around the button.
    this.#endsParagraph = endedBefore || endingParagraph.has(name) || (endsParagraph && name !== 'button');

    const start = `${before}<${name}${attributes}>`;
    if (isVoid) return children.length === 0 ? start : start + this.nodes(children, around);
    // A parser drops the first line break in this element.
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

/** HTML of an element, split at its id, and its text. */
type WrittenOnce = { parts: string[]; text: string };

/** Cache by `alike`; 'never' if the id also occurs in other places. */
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
/** Matches the start of a block, which ends the paragraph around it. */
const startOfBlock = /^<div [^<>]*id="$/;
/** Matches ids that are written in the same way in an address and in an attribute. */
const plainId = /^[\w.-]+$/;

const linkToItself: Element = { type: 'element', tagName: 'a', properties: {}, children: [] };

const isPlainPlace = ({ inTable, inDrawing, inLink, inButton, inHeading, part }: Around): boolean =>
  !inTable && !inDrawing && !inLink && !inButton && !inHeading && part === undefined;

/** Classes that show a picture only in light or only in dark appearance. */
const showsOrHides = /^(dark:)?(hidden|block|inline|inline-block|flex)$/;

/** Description that replaces a picture without a source. */
function missingImage({ alt, className }: Properties, { missingImage }: Addresses): Element {
  const kept = Array.isArray(className) ? className.filter((name) => showsOrHides.test(name)) : [];
  const value = typeof alt === 'string' && alt !== '' ? alt : missingImage;
  const properties = { className: ['missing-image', ...kept] };
  return { type: 'element', tagName: 'span', properties, children: [{ type: 'text', value }] };
}

const hasClass = ({ className }: Properties, name: string): boolean =>
  Array.isArray(className) && className.includes(name);

/** True for the link of a heading to itself. It is left out inside of another link. */
export const isLinkToItself = ({ tagName, properties }: Element): boolean =>
  tagName === 'a' && hasClass(properties, 'heading-anchor');
