import type { Element, Nodes } from 'hast';
import { isLinkToItself, voidElements } from '#shared/docs/render/content/write-content.ts';
import { apartOf, PageSections, type Section } from '#shared/docs/render/content/page-sections.ts';
import { contentElements, strippedElements } from '#shared/docs/render/sanitize/content-schema.ts';
import { type Around, nameHere, top, within } from '#shared/docs/render/sanitize/place-elements.ts';
import { safeProperties } from '#shared/docs/render/sanitize/safe-attributes.ts';
import { isHidden } from './hidden-content.ts';

/** Reads content by section, without its hidden parts. The text is the same that `writeContent` finds in the rest, which also writes HTML. */
export function readSections(content: readonly Nodes[]): Section[] {
  const reader = new ContentReader();
  reader.nodes(content, top);
  return reader.sections.sections;
}

class ContentReader {
  readonly sections = new PageSections();
  readonly #cellEnds = (): void => this.sections.text('\n');

  nodes(nodes: readonly Nodes[], around: Around): void {
    for (const node of nodes) {
      if (node.type === 'element') this.#element(node, around);
      else if (node.type === 'text') this.#text(node.value, around, node.value.trim() === '');
      else if (node.type === 'typeset') this.#text(node.of === 'code' ? `${node.text}\n` : node.text, around, false);
      else if (node.type === 'repeated') this.#element(node.element(node.id), around);
    }
  }

  #text(value: string, around: Around, isBlank: boolean): void {
    const isAllowed = around.part === undefined || around.part.enter('', isBlank) !== undefined;
    if (isAllowed) this.sections.text(value);
  }

  #element(element: Element, around: Around): void {
    const { tagName, properties, children } = element;
    if (strippedElements.has(tagName) || (around.inLink && isLinkToItself(element))) return;
    const name = contentElements.has(tagName) ? nameHere(element, around) : undefined;
    if (name === undefined) {
      this.nodes(children, around);
      return;
    }
    // A style hides only if it is kept when the page is shown.
    if (isHidden(properties) && isHidden(safeProperties(element, name, undefined))) return;
    if (around.part !== undefined && around.part.enter(name, false) === undefined) return;

    const { className, id } = properties;
    const { sections } = this;
    const apart = apartOf(name, className);
    if (apart.before) sections.text(' ');
    const isTabTitle = name === 'p' && Array.isArray(className) && className.includes('tab-title');
    const outside = sections.begin(name, id, !isTabTitle);
    const isVoid = voidElements.has(name);
    if (!isVoid && name !== 'iframe') {
      const inside = within(name, around, this.#cellEnds);
      this.nodes(children, inside);
      inside.part?.close();
    }
    sections.end(name, outside);
    if (apart.after) sections.text(' ');
    if (isVoid) this.nodes(children, around);
  }
}
