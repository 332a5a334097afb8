import katex from 'katex';
import { messageOf } from '#shared/runtime/failures.ts';
import type { SafeHtml } from '../html.ts';
import { facesOf } from './math-fonts.ts';
import { BadMarkup, readKatex } from './read-katex.ts';

/** Limit of the characters of a formula. The longest real ones have about two thousand. */
const maxFormula = 5_000;
/** Limits of the characters of all formulas of a page, and of their markup. */
const maxFormulas = 50_000;
const maxMarkup = 1_000_000;
/** Approximate limit of the tokens that macros in a formula may make. */
const maxOwnTokens = 20_000;

const definitions = /\\(?:[egx]?def|let|futurelet|(?:re|provide)?newcommand|renewcommand|providecommand)(?![A-Za-z])/;

/** A rendered formula, or the reason why it cannot be shown, as the rest of the sentence "A formula is shown as its source: …". */
export type Formula = { html: SafeHtml } | { problem: string };

/**
 * Renders the formulas of one page with KaTeX: HTML for display and MathML for screen readers. Macros that a formula defines end with it. Time and
 * bytes are limited for each page, whatever its formulas contain.
 */
export class PageMath {
  /** Names of the font files that the formulas use, such as `KaTeX_Main-Regular`. */
  readonly fonts = new Set<string>();
  #formulas = 0;
  #markup = 0;

  /** `display`: the formula is a block. */
  render(tex: string, display: boolean): Formula {
    this.#formulas += tex.length;
    if (tex.length > maxFormula) return { problem: `it has more than ${maxFormula} characters` };
    if (this.#formulas > maxFormulas)
      return { problem: `the formulas of this page have more than ${maxFormulas} characters` };
    if (this.#markup > maxMarkup) return { problem: 'the markup of the formulas of this page is too large' };
    const defines = definitions.test(tex);
    // A parameter that occurs twice in a macro doubles its argument, and KaTeX counts that as one step.
    if (defines && /(?<!\\)#/.test(tex)) return { problem: 'macros with parameters cannot be defined in a page' };
    let refused: string | undefined;
    try {
      const markup = katex.renderToString(tex, {
        displayMode: display,
        output: 'htmlAndMathml',
        throwOnError: true,
        trust({ command }) {
          refused = command;
          return false;
        },
        strict: false,
        macros: {},
        maxExpand: defines ? Math.min(1000, Math.ceil(maxOwnTokens / tex.length)) : 1000,
        maxSize: 50,
      });
      this.#markup += markup.length;
      if (refused !== undefined) return { problem: `${refused} cannot be in a page` };
      if (this.#markup > maxMarkup) return { problem: 'the markup of the formulas of this page is too large' };
      const classes = new Set<string>();
      const html = readKatex(markup, classes);
      for (const face of facesOf(classes)) this.fonts.add(face);
      return { html };
    } catch (error) {
      return { problem: problemOf(error) };
    }
  }
}

function problemOf(error: unknown): string {
  if (error instanceof BadMarkup) return error.message;
  if (error instanceof RangeError) return 'it is nested too deep';
  const message = messageOf(error).replace(/^KaTeX parse error: /, '');
  return message.replace(/[\s\u0300-\u036f]+/g, (found) => (/\s/.test(found) ? ' ' : '')).slice(0, 200);
}
