import type { Element } from 'hast';
import { drawnElements } from './content-schema.ts';
import { currentName } from './obsolete-html.ts';

/*
 * Rules of HTML about the places of elements, so that a parser of a written page sees the intended tree. Browsers would otherwise correct it: they
 * end paragraphs early, move elements out of tables, and take the `title` of a drawing for the page's.
 */

/** Surroundings of a node. */
export type Around = {
  parent: string;
  /** Parent of the parent. */
  outer: string;
  inTable: boolean;
  inDrawing: boolean;
  inLink: boolean;
  inButton: boolean;
  inHeading: boolean;
  /** The parent, if it is a table or a part of one. */
  part: TablePart | undefined;
};

/** Surroundings of the content of a page. */
export const top: Around = {
  parent: '',
  outer: '',
  inTable: false,
  inDrawing: false,
  inLink: false,
  inButton: false,
  inHeading: false,
  part: undefined,
};

/** Surroundings of the children of an element that is written under this name. */
export const within = (name: string, around: Around, closed: () => void): Around => ({
  parent: name,
  outer: around.parent,
  inTable: around.inTable || name === 'table',
  inDrawing: drawnElements.has(name),
  inLink: around.inLink || name === 'a',
  inButton: around.inButton || name === 'button',
  inHeading: around.inHeading || headings.has(name),
  part: tableParts.has(name) ? new TablePart(name, closed) : undefined,
});

/** The name under which an element is written at this place; undefined if only its content may be here. */
export function nameHere(element: Element, around: Around): string | undefined {
  const { tagName } = element;
  if (drawnElements.has(tagName)) return around.inDrawing || tagName === 'svg' ? tagName : undefined;
  return around.inDrawing ? undefined : nameInText(currentName(tagName), around);
}

const headings = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6']);

function nameInText(tagName: string, around: Around): string | undefined {
  const { parent, outer } = around;
  switch (tagName) {
    case 'a':
      return around.inLink ? 'span' : tagName;
    case 'button':
      return around.inButton ? 'span' : tagName;
    case 'label':
      return around.inLink || around.inButton ? 'span' : tagName;
    case 'p':
    case 'div':
      return around.inHeading ? 'span' : tagName;
    case 'li':
      return parent === 'ul' || parent === 'ol' ? tagName : 'div';
    case 'dt':
    case 'dd':
      return parent === 'dl' || (parent === 'div' && outer === 'dl') ? tagName : 'div';
    case 'rt':
    case 'rp':
      return parent === 'ruby' ? tagName : 'span';
    case 'caption':
    case 'colgroup':
    case 'thead':
    case 'tbody':
    case 'tfoot':
      return parent === 'table' ? tagName : undefined;
    case 'tr':
      return /^(table|thead|tbody|tfoot)$/.test(parent) ? tagName : undefined;
    case 'td':
    case 'th':
      if (!around.inTable) return undefined;
      return /^(table|thead|tbody|tfoot|tr)$/.test(parent) ? tagName : 'div';
    case 'col':
      return parent === 'table' || parent === 'colgroup' ? tagName : undefined;
    default:
      return around.inHeading && headings.has(tagName) ? 'span' : tagName;
  }
}

/** Elements before which a parser ends an open paragraph. */
export const endingParagraph: ReadonlySet<string> = new Set(
  `address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
  header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp`.split(/\s+/),
);

/** Allowed children of a table and its parts, and the wrapper of other children. A column group has no other children. */
const tableParts: ReadonlyMap<string, { fits: ReadonlySet<string>; wrapper: (name: string) => string | undefined }> =
  new Map([
    [
      'table',
      {
        fits: new Set(['caption', 'colgroup', 'thead', 'tbody', 'tfoot']),
        wrapper: (name: string) => (name === 'col' ? 'colgroup' : 'tbody'),
      },
    ],
    ...['thead', 'tbody', 'tfoot'].map((name) => [name, { fits: new Set(['tr']), wrapper: () => 'tr' }] as const),
    ['tr', { fits: new Set(['td', 'th']), wrapper: () => 'td' }],
    ['colgroup', { fits: new Set(['col']), wrapper: () => undefined }],
  ]);

/**
 * Writes the children of a table or a part of one. Children that are not allowed are wrapped in the missing element, together with their neighbours.
 */
class TablePart {
  readonly #name: string;
  /** Called at the end of a cell that was added. */
  readonly #cellEnds: () => void;
  #open: { name: string; part: TablePart | undefined } | undefined;

  constructor(name: string, cellEnds: () => void) {
    this.#name = name;
    this.#cellEnds = cellEnds;
  }

  /** Markup to write before a child with this name (`''` for text); undefined if the child is left out. White space is left out, except in a cell. */
  enter(name: string, isBlank: boolean): string | undefined {
    const rule = tableParts.get(this.#name);
    if (rule === undefined || (isBlank && this.#open?.name !== 'td')) return undefined;
    if (rule.fits.has(name)) return this.close();
    const wrapper = rule.wrapper(name);
    if (wrapper === undefined) return undefined;
    let before = '';
    if (this.#open?.name !== wrapper) {
      before = `${this.close()}<${wrapper}>`;
      const part = tableParts.has(wrapper) ? new TablePart(wrapper, this.#cellEnds) : undefined;
      this.#open = { name: wrapper, part };
    }
    const inside = this.#open?.part?.enter(name, isBlank);
    return before + (inside ?? '');
  }

  /** Ends the wrapper of the children so far. */
  close(): string {
    const open = this.#open;
    if (open === undefined) return '';
    this.#open = undefined;
    const inside = open.part?.close() ?? '';
    if (open.name === 'td') this.#cellEnds();
    return `${inside}</${open.name}>`;
  }
}
