import type { Element, ElementContent } from 'hast';
import type { Nodes } from 'mdast';
import type { IconLibrary } from '#shared/docs/icons/find-icon.ts';
import type { Report } from '../findings.ts';
import type { InterfaceTexts } from '../interface-texts/interface-texts.ts';
import type { PageMath } from '../math/page-math.ts';

/** An entry of "On this page". */
export type TocEntry = { anchor: string; title: string; depth: 2 | 3 };

type FeedItem = { anchor: string; title: string; text: string; tags: string[] };

/** State that the parts of a page's content share while they are rendered to HTML. */
export type ContentContext = {
  anchors: Anchors;
  toc: TocEntry[];
  feedItems: FeedItem[];
  /** Content of the column beside the text: request and response examples, panels. */
  aside: ElementContent[];
  /** Number of characters of code so far. */
  codeLength: number;
  math: PageMath;
  /** Names of links, `<a name="x">`, with their elements. A name becomes an id if nothing else on the page has that id. */
  linkNames: { name: string; element: Element }[];
  /** Texts of the page's `<style>` elements. */
  styles: string[];
  /** Number of diagrams that a script has to draw. */
  diagrams: { count: number };
  /** HTML tree of an element's content. */
  children(nodes: readonly Nodes[]): ElementContent[];
  /** HTML tree of one line of Markdown from an attribute. */
  inlineMarkdown(text: string): ElementContent[];
  /** Markdown of static nodes. */
  markdown(nodes: readonly Nodes[]): string;
  /** Texts of the interface, in the language of the page. */
  texts: InterfaceTexts;
  /** Class names that the author wrote. */
  classes: Set<string>;
  /** The library that icon names refer to; undefined if icons are not rendered. */
  iconLibrary: IconLibrary | undefined;
  report: Report;
};

/** Limits of the class names of one element, of the class names of a page, and of the characters of a name. */
const [mostClasses, mostClassesOfPage, longestClass] = [100, 1000, 100];

/** Adds a class name of the author, up to the limit of a page. */
export function noteClass(name: string, { classes }: Pick<ContentContext, 'classes'>): void {
  if (name.length <= longestClass && classes.size < mostClassesOfPage) classes.add(name);
}

/** The names of a `className`. They are added to the author's class names. */
export function writtenClasses(written: string, context: Pick<ContentContext, 'classes'>): string[] {
  const names = written.split(/\s+/).filter((name) => name !== '' && name.length <= longestClass);
  const kept = names.slice(0, mostClasses);
  for (const name of kept) noteClass(name, context);
  return kept;
}

const maxLength = 200;

/**
 * Names that scripts look up in the window before they are defined. An element with such an id would be found instead, so these ids get a prefix.
 * React looks up `nodeName`.
 */
const lookedUp = /^(?:__|bindery[a-z]|nodeName$)/i;

/** Unique ids of one page, made from headings as the documentation format says. */
export class Anchors {
  readonly #taken = new Map<string, number>();

  /**
   * The next free id for a text: `Rate limits (per minute)` → `rate-limits-per-minute`, the second time `…-2`. An id that the author wrote replaces
   * it.
   */
  claim(text: string, written?: string): string {
    return written === undefined ? this.#claim(anchorOf(text)) : this.claimWritten(written);
  }

  /** An id that the author wrote. It stays unchanged if it is free and safe. */
  claimWritten(id: string): string {
    return this.#claim(writtenId(id));
  }

  /** The id, or undefined if something else on the page has it. */
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
 * Id of a heading's text. It differs from GitHub's slugs: slashes and ampersands stay, and straight apostrophes become typographic ones. Punctuation
 * and quotation marks are removed, because nearly all links to such headings omit them.
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
 * An id that is harmless in browsers. They expose each id as a property of `window`, unless `window` has a property of that name, and never as a
 * property of `document`. So an id can only harm code that looks up a name that may be missing.
 */
const safeId = (id: string): string => (lookedUp.test(id) ? `h-${id}` : id);
