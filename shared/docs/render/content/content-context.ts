import type { Element, ElementContent } from 'hast';
import type { Nodes } from 'mdast';
import type { IconLibrary } from '#shared/docs/icons/find-icon.ts';
import type { Report } from '../findings.ts';
import type { InterfaceTexts } from '../interface-texts/interface-texts.ts';
import type { PageMath } from '../math/page-math.ts';

/** An entry of "On this page". */
export type TocEntry = { anchor: string; title: string; depth: 2 | 3 };

type FeedItem = { anchor: string; title: string; text: string; tags: string[] };

/** What the parts of a page's content share while they become HTML. */
export type ContentContext = {
  anchors: Anchors;
  toc: TocEntry[];
  feedItems: FeedItem[];
  /** Content for the column beside the text: request and response examples, panels. */
  aside: ElementContent[];
  /** Characters of code so far. */
  codeLength: number;
  math: PageMath;
  /** Names of links, `<a name="x">`, and their elements. A name is an id where nothing else of the page has it. */
  linkNames: { name: string; element: Element }[];
  /** Text of its `<style>` elements. */
  styles: string[];
  /** How many diagrams a script has to draw. */
  diagrams: { count: number };
  /** Content of an element as HTML tree. */
  children(nodes: readonly Nodes[]): ElementContent[];
  /** A line of Markdown that an author wrote in an attribute. */
  inlineMarkdown(text: string): ElementContent[];
  /** Static nodes as a text in Markdown. */
  markdown(nodes: readonly Nodes[]): string;
  /** Words of ours, in the language of the page. */
  texts: InterfaceTexts;
  /** Classes that the author wrote. */
  classes: Set<string>;
  /** The library whose names icons have; undefined where nobody sees icons. */
  iconLibrary: IconLibrary | undefined;
  report: Report;
};

/** Of one element, of a page, and of a name's characters. */
const [mostClasses, mostClassesOfPage, longestClass] = [100, 1000, 100];

/** Notes a class of the author, as far as a page may have so many. */
export function noteClass(name: string, { classes }: Pick<ContentContext, 'classes'>): void {
  if (name.length <= longestClass && classes.size < mostClassesOfPage) classes.add(name);
}

/** The names of a `className`, noted as classes of the author. */
export function writtenClasses(written: string, context: Pick<ContentContext, 'classes'>): string[] {
  const names = written.split(/\s+/).filter((name) => name !== '' && name.length <= longestClass);
  const kept = names.slice(0, mostClasses);
  for (const name of kept) noteClass(name, context);
  return kept;
}

const maxLength = 200;

/**
 * Names that scripts of a page look up in the window, where they may not be: an element with such an id would be found in their place. React asks the
 * window for its `nodeName`.
 */
const lookedUp = /^(?:__|bindery[a-z]|nodeName$)/i;

/** Unique ids of one page, made from headings as the documentation format says. */
export class Anchors {
  readonly #taken = new Map<string, number>();

  /** The next free id for a text: `Rate limits (per minute)` → `rate-limits-per-minute`, the second time `…-2`. An id that the author wrote is used instead. */
  claim(text: string, written?: string): string {
    return written === undefined ? this.#claim(anchorOf(text)) : this.claimWritten(written);
  }

  /** An id that the author wrote: kept as it is while it is free and safe. */
  claimWritten(id: string): string {
    return this.#claim(writtenId(id));
  }

  /** The id, unless something else on the page has it. */
  claimIfFree(id: string): string | undefined {
    const wanted = writtenId(id);
    return this.#taken.has(wanted) ? undefined : this.#claim(wanted);
  }

  /** All ids so far. */
  get ids(): ReadonlySet<string> {
    return new Set(this.#taken.keys());
  }

  #claim(base: string): string {
    const count = this.#taken.get(base);
    if (count === undefined) {
      this.#taken.set(base, 1);
      return base;
    }
    let next = count + 1;
    while (this.#taken.has(`${base}-${next}`)) next += 1;
    this.#taken.set(base, next);
    this.#taken.set(`${base}-${next}`, 1);
    return `${base}-${next}`;
  }
}

const writtenId = (id: string): string =>
  safeId(
    id
      .replace(/[\s\u0000-\u001f]+/g, '-')
      .slice(0, maxLength)
      .toWellFormed(),
  );

/**
 * Not the slugs of GitHub: slashes and ampersands stay, straight apostrophes become typographic ones. Marks of sentences and quotation marks are left
 * out, as nearly all links to such headings leave them out.
 */
export function anchorOf(text: string): string {
  const id = text
    .slice(0, 4 * maxLength)
    .trim()
    .toLowerCase()
    .replace(/['\u0027]/g, '’')
    .replace(/[()?!,:;？！，：；\u0000-\u001f\u200b-\u200f\u202a-\u202e\u2060-\u2069`"“”„<>]/g, (character) =>
      /\s/.test(character) ? ' ' : '',
    )
    .trim()
    .replace(/[\s.]+/g, '-')
    .slice(0, maxLength)
    .toWellFormed();
  return safeId(id === '' ? 'section' : id);
}

/**
 * A browser offers each id as a property of `window`, behind all that `window` has itself, and none as one of `document`. So an id is a danger only to
 * what looks up a name that may not be there.
 */
const safeId = (id: string): string => (lookedUp.test(id) ? `h-${id}` : id);
