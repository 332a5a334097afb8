import { ownLexers } from './languages/own-lexers.ts';
import { prismLanguages, tokenize } from './prism.ts';
import { plain, Runs } from './runs.ts';
import { classifiedRuns } from './token-classes.ts';

/*
 * Grammars are regular expressions, and the time of some grows with the square of the text. With these limits the worst known code takes 40 ms per
 * kilobyte. The limits are lengths instead of times, so that the same code always looks the same.
 */
const maxLineLength = 1000;
const maxPieceLength = 4000;

/** Aliases of languages that authors write and the grammars do not have. */
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

/** The highlighter's name of a language, or undefined if the code is shown as plain text. */
export function knownLanguage(written: string): string | undefined {
  const name = written.toLowerCase();
  const language = aliases.get(name) ?? name;
  return prismLanguages.get(language);
}

/** Colours code. Long lines and code of unknown languages stay plain. */
export function highlight(code: string, written: string): Runs {
  const runs = new Runs(code);
  const language = knownLanguage(written);
  if (language === undefined) runs.add(code.length, plain);
  else if (code.length <= maxLineLength) return coloured(code, language);
  else {
    let from = 0;
    for (const piece of piecesOf(code, ownLexers.has(language) ? code.length : maxPieceLength)) {
      if (piece.length > maxLineLength && !piece.includes('\n')) runs.add(from + piece.length, plain);
      else runs.addAll(coloured(piece, language), from);
      from += piece.length + 1;
      // The line break between two pieces stays plain.
      runs.add(Math.min(from, code.length), plain);
    }
  }
  return runs;
}

function coloured(code: string, language: string): Runs {
  const own = ownLexers.get(language);
  return own === undefined ? classifiedRuns(code, tokenize(code, language), language) : own(code);
}

/** Splits code into pieces that may be coloured at once, without the line breaks between them. A long line is a separate piece. */
function piecesOf(code: string, mostCharacters: number): string[] {
  const pieces: string[] = [];
  let begins = 0;
  let from = 0;
  const cut = (end: number): void => {
    if (end > begins) pieces.push(code.slice(begins, end - 1));
    begins = end;
  };
  while (from <= code.length) {
    const found = code.indexOf('\n', from);
    const end = (found < 0 ? code.length : found) + 1;
    const isLong = end - 1 - from > maxLineLength;
    if (isLong || end - begins > mostCharacters) cut(from);
    if (isLong) cut(end);
    from = end;
  }
  cut(code.length + 1);
  return pieces;
}
