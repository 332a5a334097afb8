import type { Element } from 'hast';
import { drawnElements } from './content-schema.ts';
import { currentName } from './obsolete-html.ts';

/*
 * Where HTML allows an element, so that a parser of a written page sees the tree that was meant. A browser would mend it otherwise: end
 * paragraphs early, move elements out of tables, and take a `title` outside of a drawing for the page's.
 */

/** What is around a node. */
export type Around = {
  parent: string;
  /** Of the parent. */
  outer: string;
  inTable: boolean;
  inDrawing: boolean;
  inLink: boolean;
  inButton: boolean;
  inHeading: boolean;
  /** The parent, where it is a table or a part of one. */
  part: TablePart | undefined;
};

/** What is around the content of a page. */
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

/** What is around the children of an element that stands here under a name. */
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

/** What an element is called where it stands; undefined: only its content may stand here. */
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

/** Children of a table and its parts, and what wraps a child that may not be there. A column group has no other children. */
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

/** A table or a part of one while its children are written. Those that may not be here are wrapped in what is missing, neighbours together. */
class TablePart {
  readonly #name: string;
  /** What to do when a cell that was missing ends. */
  readonly #cellEnds: () => void;
  #open: { name: string; part: TablePart | undefined } | undefined;

  constructor(name: string, cellEnds: () => void) {
    this.#name = name;
    this.#cellEnds = cellEnds;
  }

  /** What stands before a child of that name, '' for text; undefined: the child is left out. Spaces are, but in a cell. */
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

  /** Ends what wraps the children so far. */
  close(): string {
    const open = this.#open;
    if (open === undefined) return '';
    this.#open = undefined;
    const inside = open.part?.close() ?? '';
    if (open.name === 'td') this.#cellEnds();
    return `${inside}</${open.name}>`;
  }
}
