/** The visible text under one heading. `anchor` and `heading` are empty before the first heading. */
export type Section = { anchor: string; heading: string; text: string };

const blockTags = new Set(
  `address article aside blockquote details div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul video iframe
  li br td th summary dt dd figcaption`.split(/\s+/),
);
/**
 * Elements and classes that are drawn apart from the words around them. Their text needs spaces, so that a word and its tooltip do not read as one
 * word.
 */
const apart = new Set(['tooltip-content', 'color-name']);
/** Elements and classes that need a space only before them, because a full stop may follow. */
const apartBefore = new Set(['kbd', 'badge']);

const together = { before: false, after: false };

/** Tells on which sides the text of an inline element needs a space. `classes`: its property `className`. */
export function apartOf(name: string, classes: unknown): { before: boolean; after: boolean } {
  if (!Array.isArray(classes) && !apart.has(name) && !apartBefore.has(name)) return together;
  const is = (set: ReadonlySet<string>): boolean =>
    set.has(name) || (Array.isArray(classes) && classes.some((one) => set.has(one)));
  const after = is(apart);
  return { before: after || is(apartBefore), after };
}

/** Elements whose content is not part of the text of a page. */
const unreadTags = new Set(['svg', 'button', 'style']);
const maxText = 200_000;

/** The kind of text that comes next. */
type Within = 'text' | 'heading' | 'nothing';

/** Collects the text of a page by section, for search, and its ids, while its elements are written. */
export class PageSections {
  readonly ids: string[] = [];
  readonly #sections: Section[] = [{ anchor: '', heading: '', text: '' }];
  #last = this.#sections[0] as Section;
  #within: Within = 'text';
  #length = 0;

  /** Notes the beginning of an element. Pass the result to `end`. */
  begin(name: string, id: unknown, isRead = true): Within {
    const outside = this.#within;
    if (outside !== 'nothing' && typeof id === 'string') this.ids.push(id);
    if (!isRead || unreadTags.has(name)) this.#within = 'nothing';
    else if (outside === 'text' && typeof id === 'string' && /^h[1-4]$/.test(name)) {
      this.#last = { anchor: id, heading: '', text: '' };
      this.#sections.push(this.#last);
      this.#within = 'heading';
    }
    return outside;
  }

  /** Notes the end of an element. After a block, a new line begins. */
  end(name: string, outside: Within): void {
    const isRead = outside === 'text' && this.#within !== 'nothing';
    this.#within = outside;
    if (isRead && blockTags.has(name)) this.text('\n');
  }

  text(text: string): void {
    const section = this.#last;
    if (this.#within === 'heading') section.heading += text;
    if (this.#within !== 'text' || this.#length > maxText) return;
    this.#length += text.length;
    section.text += text;
  }

  /** Adds an element with an id whose text is already known. Returns false and adds nothing if its text would be recorded differently here. */
  repeat(id: string, text: string): boolean {
    if (this.#within !== 'text' || this.#length + text.length > maxText) return false;
    this.ids.push(id);
    this.text(text);
    return true;
  }

  /** Text before the first heading, with its original white space. */
  get firstText(): string {
    return this.#sections[0]?.text ?? '';
  }

  /** Sections that have a heading or a text. */
  get sections(): Section[] {
    return this.#sections
      .map(({ anchor, heading, text }) => ({
        anchor,
        heading: heading.trim(),
        text: tidied(text),
      }))
      .filter(({ heading, text }) => heading !== '' || text !== '');
  }
}

/** The non-empty lines, with their white space normalized. */
function tidied(text: string): string {
  let made = '';
  for (let from = 0; from <= text.length; ) {
    const found = text.indexOf('\n', from);
    const end = found < 0 ? text.length : found;
    const line = end === from ? '' : tidyLine(text.slice(from, end));
    if (line !== '') made += made === '' ? line : `\n${line}`;
    from = end + 1;
  }
  return made;
}

/** A line without indentation, and with single spaces. */
function tidyLine(written: string): string {
  const line = written.trim();
  return line.includes('  ') || line.includes('\t') ? line.replace(/[ \t]{2,}|\t/g, ' ') : line;
}
