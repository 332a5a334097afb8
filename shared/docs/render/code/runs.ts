import { escapeHtmlText } from '../html.ts';

/** A piece of a line; `className` is absent for plain text. */
export type Token = { text: string; className?: string };

/** Class of text without a colour. */
export const plain = '';

/** Code as consecutive runs, each with one class. */
export class Runs {
  readonly code: string;
  readonly ends: number[] = [];
  readonly classes: string[] = [];

  constructor(code: string) {
    this.code = code;
  }

  /** Adds the next run, up to `end`. Neighbours of the same class become one run, even with spaces between them, because spaces have no colour. */
  add(end: number, className: string): void {
    const { code, ends, classes } = this;
    const count = ends.length;
    const from = count === 0 ? 0 : (ends[count - 1] ?? 0);
    if (end <= from) return;
    if (count > 0 && classes[count - 1] === className) ends[count - 1] = end;
    else if (count > 1 && classes[count - 2] === className && this.#isGap(code, ends[count - 2] ?? 0, from)) {
      ends.pop();
      classes.pop();
      ends[count - 2] = end;
    } else {
      ends.push(end);
      classes.push(className);
    }
  }

  #isGap(code: string, from: number, end: number): boolean {
    for (let at = from; at < end; at += 1) if (code.charCodeAt(at) !== 0x20) return false;
    return true;
  }

  /** Adds the runs of a later piece of the same code. */
  addAll({ ends, classes }: Runs, from: number): void {
    for (let at = 0; at < ends.length; at += 1) this.add(from + (ends[at] ?? 0), classes[at] ?? plain);
  }

  /** HTML of the code. Each line of a run has a separate span, so that the HTML can be split into lines. */
  html(): string {
    const { code, ends, classes } = this;
    let html = '';
    let from = 0;
    for (let at = 0; at < ends.length; at += 1) {
      const end = ends[at] ?? 0;
      const text = code.slice(from, end);
      const className = classes[at] ?? plain;
      if (className === plain) html += escapeHtmlText(text);
      else if (text.includes('\n'))
        html += text
          .split('\n')
          .map((line) => span(line, className))
          .join('\n');
      else html += span(text, className);
      from = end;
    }
    return html;
  }

  /** Tokens of the code, line by line. */
  lines(): Token[][] {
    const { code, ends, classes } = this;
    let line: Token[] = [];
    const lines = [line];
    let from = 0;
    for (let at = 0; at < ends.length; at += 1) {
      const className = classes[at] ?? plain;
      for (const [number, text] of code.slice(from, ends[at]).split('\n').entries()) {
        if (number > 0) lines.push((line = []));
        if (text !== '') line.push(className === plain ? { text } : { text, className });
      }
      from = ends[at] ?? 0;
    }
    return lines;
  }
}

/** HTML of a token. Blanks have no span, because they have no colour. */
export const span = (text: string, className: string): string =>
  !(text.charCodeAt(0) > 0x20) && text.trim() === ''
    ? escapeHtmlText(text)
    : `<span class="${className}">${escapeHtmlText(text)}</span>`;
