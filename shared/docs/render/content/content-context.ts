import type { ElementContent } from 'hast';
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
 * Names of properties of `document` and `window`: for scripts, an element with such an id would hide the property. An id that is one of
 * them gets a prefix.
 */
const clobbering = new Set(
  `__proto__ __defineGetter__ __definesetter__ constructor prototype hasownproperty isprototypeof tostring valueof
  location document window self top parent frames history navigator cookie domain body head forms images links scripts embeds plugins
  children childnodes attributes innerhtml outerhtml innertext textcontent baseuri referrer url implementation defaultview
  currentscript activeelement getelementbyid queryselector createelement addeventlistener localstorage sessionstorage
  alert eval fetch name length opener closed origin status`.split(/\s+/),
);

/** Unique ids of one page, made from headings as the documentation format says. */
export class Anchors {
  readonly #taken = new Map<string, number>();

  /** The next free id for a text: `Rate limits (per minute)` → `rate-limits-per-minute`, the second time `…-2`. An id that the author wrote is used instead. */
  claim(text: string, written?: string): string {
    return written === undefined ? this.#claim(anchorOf(text)) : this.claimWritten(written);
  }

  /** An id that the author wrote: kept as it is while it is free and safe. */
  claimWritten(id: string): string {
    return this.#claim(
      safeId(
        id
          .replace(/[\s\u0000-\u001f]+/g, '-')
          .slice(0, maxLength)
          .toWellFormed(),
      ),
    );
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

/** Not the slugs of GitHub: slashes and ampersands stay, straight apostrophes become typographic ones. */
export function anchorOf(text: string): string {
  const id = text
    .slice(0, 4 * maxLength)
    .trim()
    .toLowerCase()
    .replace(/['\u0027]/g, '’')
    .replace(/[()\u0000-\u001f\u200b-\u200f\u202a-\u202e\u2060-\u2069`"<>]/g, (character) =>
      /\s/.test(character) ? ' ' : '',
    )
    .replace(/[\s.]+/g, '-')
    .slice(0, maxLength)
    .toWellFormed();
  return safeId(id === '' ? 'section' : id);
}

function safeId(id: string): string {
  return clobbering.has(id.toLowerCase()) || id.startsWith('__') || /^bindery/i.test(id) ? `h-${id}` : id;
}
