import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import type { Point } from 'unist';
import { isHtml } from './html-names.ts';
import type { LooseTag } from './loose-tag.ts';

/** A page with more repairs is shown as plain Markdown, because too much of it would be a guess. */
const maxRepairs = 100;
/** Maximum number of warnings about void elements without a slash. They involve no guess, so more of them do not make the page plain Markdown. */
const maxVoidWarnings = 50;

/** The page needs too many repairs. `line` and `column` are those of the first one. */
export class TooManyRepairs extends Error {
  override name = 'TooManyRepairs';
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(why: string, first: Finding | undefined) {
    super(first === undefined ? why : `${why} The first of its problems: ${first.message}`);
    this.line = first?.line;
    this.column = first?.column;
  }
}

/**
 * Collects the repairs of one page, and limits them: at most 100, and work in proportion to the size of the page. Each is kept once per place,
 * because a parser may read the same place twice.
 */
export class Repairs {
  readonly text: string;
  readonly #file: string;
  readonly #isComponent: (name: string) => boolean;
  readonly #found = new Map<number, Finding>();
  readonly #textRanges: [number, number][] = [];
  readonly #looseTags = new Map<number, LooseTag | null>();
  /** Cache of names that the page was searched for: true if the page defines the name. */
  readonly #madeNames = new Map<string, boolean>();
  #voids = 0;
  #work: number;

  constructor(text: string, file: string, isComponent: (name: string) => boolean = () => true) {
    this.text = text;
    this.#file = file;
    this.#isComponent = isComponent;
    this.#work = 10 * text.length + 1_000_000;
  }

  /** Sorted by position in the page. */
  get diagnostics(): Finding[] {
    return [...this.#found].sort(([a], [b]) => a - b).map(([, diagnostic]) => diagnostic);
  }

  note({ line, column, offset = 0 }: Point, message: string): void {
    if (this.#found.has(offset)) return;
    if (this.#found.size - this.#voids >= maxRepairs) {
      throw new TooManyRepairs(`It has more than ${maxRepairs} places to repair.`, this.diagnostics[0]);
    }
    this.#add(offset, { line, column }, message);
  }

  noteVoid({ line, column, offset = 0 }: Point, name: string): void {
    if (this.#found.has(offset) || this.#voids >= maxVoidWarnings) return;
    this.#voids += 1;
    this.#add(offset, { line, column }, `<${name}> has no slash at its end. It is read as <${name} />; write it so.`);
  }

  /** Marks the text from `start` to `end` as refused: no brace in it begins an expression. */
  markText(start: number, end: number): void {
    this.#textRanges.push([start, end]);
  }

  isText(offset: number): boolean {
    return this.#textRanges.some(([start, end]) => offset > start && offset < end);
  }

  /** Caches the result of `read` for the text at `start`, which block and inline constructs both request. */
  looseTagAt({ offset = 0 }: Point, read: (text: string) => LooseTag | undefined): LooseTag | undefined {
    const known = this.#looseTags.get(offset);
    if (known !== undefined) return known ?? undefined;
    const found = read(this.text.slice(offset, offset + 20_000));
    this.spend(found?.length ?? 1_000);
    const isKnown =
      found !== undefined && (isHtml(found.name) || (/^[A-Z]/.test(found.name) && this.isComponent(found.name)));
    this.#looseTags.set(offset, isKnown ? found : null);
    return isKnown ? found : undefined;
  }

  /** Counts characters that were read without a result. Throws when they exceed the bound. */
  spend(characters: number): void {
    this.#work -= characters;
    if (this.#work < 0) throw new TooManyRepairs('Its repair would take too long.', this.diagnostics[0]);
  }

  /** Counts the work for an expression that cannot be read. An unterminated one was searched up to the end of the page. */
  spendOn(problem: string, characters: number): void {
    this.spend(problem.startsWith('Unterminated') ? Math.ceil(characters / 20) : 1);
  }

  /** True for a built-in component, or a name that the page imports or defines. */
  isComponent(name: string): boolean {
    const [first = ''] = name.split('.');
    if (this.#isComponent(first)) return true;
    let isMade = this.#madeNames.get(first);
    if (isMade === undefined) {
      isMade =
        /^[\w$]+$/.test(first) &&
        new RegExp(`^(?:import|export)\\b.*\\b${first.replaceAll('$', '\\$')}\\b`, 'm').test(this.text);
      this.#madeNames.set(first, isMade);
    }
    return isMade;
  }

  #add(offset: number, { line, column }: Pick<Point, 'line' | 'column'>, message: string): void {
    const place = { file: this.#file, line, column };
    this.#found.set(offset, { severity: 'warning', code: 'mdx-repaired', message, ...place });
  }
}
