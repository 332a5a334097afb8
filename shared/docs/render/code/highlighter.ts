import { jsonLines } from './json-lines.ts';
import { prismLanguages, tokenize } from './prism.ts';
import { classifiedLines, type Token } from './token-classes.ts';

export type { Token } from './token-classes.ts';

/*
 * Grammars are regular expressions, and some take time with the square of what they look at. With these limits the worst code that was found
 * takes 40 ms for each kilobyte. They are lengths and not times, so that the same code always looks the same.
 */
const maxLineLength = 1000;
const maxPieceLength = 4000;

/** Names that authors write and the grammars do not have. */
const aliases: ReadonlyMap<string, string> = new Map([
  ...['curl', 'zsh', 'fish', 'env', 'dotenv', 'shellscript', 'cli'].map((name) => [name, 'bash'] as const),
  ...['console', 'terminal', 'shellsession'].map((name) => [name, 'shell-session'] as const),
  ...['node', 'nodejs', 'js-nolint', 'mjs', 'cjs'].map((name) => [name, 'javascript'] as const),
  ...['mts', 'cts'].map((name) => [name, 'typescript'] as const),
  ...['jsonl', 'ndjson', 'jsonc', 'geojson'].map((name) => [name, 'json'] as const),
  ...['vue', 'svelte', 'astro', 'xhtml', 'jinja', 'jinja2', 'liquid', 'handlebars', 'hbs', 'erb', 'ejs'].map(
    (name) => [name, 'markup'] as const,
  ),
  ['markdoc', 'markdown'],
  ...['postgresql', 'postgres', 'mysql', 'plsql', 'sqlite', 'clickhouse'].map((name) => [name, 'sql'] as const),
  ...['terraform', 'tf'].map((name) => [name, 'hcl'] as const),
  ...['cmd', 'bat'].map((name) => [name, 'batch'] as const),
  ...['ps', 'ps1'].map((name) => [name, 'powershell'] as const),
  ...['c++', 'hpp'].map((name) => [name, 'cpp'] as const),
  ['golang', 'go'],
  ['c#', 'csharp'],
  ['sass', 'scss'],
  ['zig', 'rust'],
  ['styl', 'css'],
  ['f#', 'fsharp'],
  ['rs', 'rust'],
  ['objective-c', 'objectivec'],
  ['proto', 'protobuf'],
  ['gql', 'graphql'],
  ['make', 'makefile'],
  ['patch', 'diff'],
  ['gitignore', 'ignore'],
]);

/** The highlighter's name of a language, or undefined when the code is shown as plain text. */
export function knownLanguage(written: string): string | undefined {
  const name = written.toLowerCase();
  const language = aliases.get(name) ?? name;
  return prismLanguages.get(language);
}

/** Colours code, line by line. Long lines and code of unknown languages stay plain. */
export function highlight(code: string, written: string): Token[][] {
  const language = knownLanguage(written);
  if (language === undefined) return plainLines(code);
  if (code.length <= maxLineLength) return coloured(code, language);
  return piecesOf(code.split('\n')).flatMap((piece) => {
    const [line = ''] = piece;
    return line.length > maxLineLength ? [plainLine(line)] : coloured(piece.join('\n'), language);
  });
}

const coloured = (code: string, language: string): Token[][] =>
  (language === 'json' ? jsonLines(code) : undefined) ?? classifiedLines(tokenize(code, language), language);

/** Lines in pieces that may be coloured at once. A long line is a piece of its own. */
function piecesOf(lines: readonly string[]): string[][] {
  const pieces: string[][] = [];
  let room = 0;
  for (const line of lines) {
    room -= line.length + 1;
    if (room < 0 || line.length > maxLineLength) {
      pieces.push([line]);
      room = line.length > maxLineLength ? 0 : maxPieceLength - line.length;
    } else pieces.at(-1)?.push(line);
  }
  return pieces;
}

const plainLine = (text: string): Token[] => [{ text }];

/** Code without colours, line by line. */
export const plainLines = (code: string): Token[][] => code.split('\n').map(plainLine);
