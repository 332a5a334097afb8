/**
 * Escapes plain text as Markdown that shows the same text, line by line: nothing in it becomes a link, a picture, HTML, a heading, a list, a table or
 * code. Only characters with a meaning get a backslash, so names such as `MAX_SIZE` stay readable where the Markdown is not rendered. A bare address
 * stays unescaped: renderers that link it show and open the same address. Pure.
 */
export function markdownText(text: string): string {
  let startsParagraph = true;
  return text
    .split('\n')
    .map((line) => {
      // Four spaces at the start of a paragraph mean code.
      const shown = startsParagraph ? line.replace(/^[ \t]{4,}|^ {0,3}\t[ \t]*/, '   ') : line;
      startsParagraph = line.trim() === '';
      return lineStart(inlineText(shown));
    })
    .join('\n');
}

/** Text inside a line, such as the text of a link. Line ends become spaces. Pure. */
export const markdownLine = (text: string): string => inlineText(text.replaceAll(/\s+/g, ' ')).replaceAll(']', '\\]');

/** The address of a link, encoded so that nothing in it ends the link or stands for another character. Pure. */
export const markdownAddress = (url: string): string =>
  url.replaceAll(
    /[()<>\\\s]|&(?=#?\w+;)/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  );

const inlineText = (line: string): string =>
  line
    .replaceAll(/\\(?=[!-/:-@[-`{-~]|$)|[`*[<~]|&(?=#?\w+;)/g, '\\$&')
    .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_');

/** Escapes marks that have a meaning only at the start of a line. */
const lineStart = (line: string): string =>
  line
    .replace(/^(\s*)(#{1,6}(?=\s|$)|>|[-+=]|[|:][|:\s-]*$)/, '$1\\$2')
    .replace(/^(\s*\d{1,9})([.)])(?=\s|$)/, '$1\\$2');
