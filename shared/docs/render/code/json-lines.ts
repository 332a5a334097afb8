import type { Token } from './token-classes.ts';

/** A text, a number, a word or a mark, with the blanks before it. */
const piece =
  /([\t\n ]*)(?:("(?:\\.|[^"\\\r\n])*")(?=(\s*:)?)|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])|(true|false|null)(?!\w)|([{}[\],])|(:))/y;
/** Prism would take the quotes before it for those of a name. */
const looksLikeName = /^"\s*:/;

/**
 * JSON as Prism's grammar colours it, line by line, in a tenth of the time: most pages of an interface have some. Undefined for what is not plainly
 * JSON.
 */
export function jsonLines(code: string): Token[][] | undefined {
  let line: Token[] = [];
  const lines = [line];
  const add = (text: string, className?: string): void => {
    const last = line.at(-1);
    if (last !== undefined && last.className === className) last.text += text;
    else line.push(className === undefined ? { text } : { text, className });
  };
  const blanks = (text: string): void => {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      if (end > from) add(text.slice(from, end));
      line = [];
      lines.push(line);
      from = end + 1;
    }
    if (from < text.length) add(text.slice(from));
  };
  let at = 0;
  for (;;) {
    piece.lastIndex = at;
    const found = piece.exec(code);
    if (found === null) break;
    at = piece.lastIndex;
    const [, before = '', text, isName, number, word, mark, colon] = found;
    if (before !== '') blanks(before);
    if (text !== undefined) {
      if (looksLikeName.test(text)) return undefined;
      add(text, isName === undefined ? 'te' : 'tk');
    } else if (mark !== undefined) add(mark);
    else if (colon !== undefined) add(colon, 'tk');
    else add(number ?? word ?? '', 'tc');
  }
  const rest = code.slice(at);
  if (rest.trim() !== '') return undefined;
  blanks(rest);
  return lines;
}
