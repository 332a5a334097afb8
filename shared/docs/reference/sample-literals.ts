/*
 * Texts of a description stand in code between quotes. The library that writes the code does not escape them everywhere, so it is given marks
 * instead of texts that need it, and each mark becomes its text again, written as its language has it.
 */

/** Where a text stands in a request. `field`: of a form whose fields are in one line, `part`: of one that has parts. */
export type TextPlace = 'header' | 'cookie' | 'field' | 'part' | 'body';

/** How a language writes what stands between quotes; the places where it is left to us, and those that are percent-encoded there. */
export type Quoting = {
  escape: (text: string) => string;
  places: readonly TextPlace[];
  encodes?: readonly TextPlace[];
};

/** No language and no place needs more for these. */
const plain = /^[\w .,:/<>{}=+*?!()[\]-]*$/;

/** Marks in the samples of one request. `texts`: all that is in it, so that no mark is among them. */
export class TextMarks {
  readonly #texts: readonly string[];
  readonly #marked: { text: string; place: TextPlace }[] = [];
  #start: string | undefined;

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /** A text that is safe as it is, or the mark for it. */
  mark(text: string, place: TextPlace): string {
    return plain.test(text) ? text : this.always(text, place);
  }

  always(text: string, place: TextPlace): string {
    if (this.#start === undefined) {
      this.#start = 'textmark';
      while (this.#texts.some((each) => each.includes(this.#start ?? ''))) this.#start += 'k';
    }
    this.#marked.push({ text: text.toWellFormed(), place });
    return `${this.#start}${this.#marked.length - 1}e`;
  }

  /** Code with the texts. */
  filled(code: string, { escape, encodes = [] }: Quoting): string {
    if (this.#start === undefined) return code;
    return code.replaceAll(new RegExp(`${this.#start}(\\d+)e`, 'g'), (_mark, at: string) => {
      const { text, place } = this.#marked[Number(at)] ?? { text: '', place: 'body' };
      return escape(encodes.includes(place) ? encodeURIComponent(text) : text);
    });
  }
}

/** In the shell all but the quote is itself. */
export const shellText = (text: string): string => text.replaceAll("'", "'\\''");

/** JavaScript between single quotes. */
export const scriptText = (text: string): string => jsonText(text).replaceAll('\\"', '"').replaceAll("'", "\\'");

/** PHP between single quotes, which may go over lines. */
export const phpText = (text: string): string => text.replaceAll(/['\\]/g, '\\$&');

/** What Python and C# have between double quotes is what JSON has. */
export const jsonText = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Ruby between double quotes runs what is in `#{}`. */
export const rubyText = (text: string): string => jsonText(text).replaceAll('#', '\\#');
