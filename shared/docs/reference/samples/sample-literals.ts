/*
 * Texts of a description as literals of programming languages, with their quotes. Whatever a text has in it, its literal is one literal: nothing
 * in it ends it, is filled in or runs, and a reader sees what would otherwise be invisible or turn the line around.
 */

/** Controls, separators of lines that are none for an editor, marks that turn the direction of a line, and what is no character. */
const unseen = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu;
const hasUnseen = (text: string, except = ''): boolean =>
  (text.match(unseen) ?? []).some((character) => !except.includes(character));

const hex = (character: string, digits: number): string =>
  (character.codePointAt(0) ?? 0).toString(16).padStart(digits, '0');

const inUnicode = (character: string): string => `\\u${hex(character, 4)}`;

/** What a backslash stands before in most languages; Java and others read octal numbers behind `\0`, so it is not among them. */
const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Between double quotes, as C has it. `unicode`: how a character that is not seen is written. */
const doubleQuoted = (text: string, unicode = inUnicode, special = /["\\]/g): string =>
  `"${text
    .toWellFormed()
    .replaceAll(special, '\\$&')
    .replaceAll(unseen, (character) => named[character] ?? unicode(character))}"`;

/** Undefined: an argument of a command cannot have the character NUL. */
export function shellLiteral(text: string): string | undefined {
  const whole = text.toWellFormed();
  if (whole.includes('\0')) return undefined;
  if (!hasUnseen(whole, '\n\t')) return `'${whole.replaceAll("'", "'\\''")}'`;
  const octal = (character: string): string =>
    [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  // Some readers of shell code do not count backslashes before a quote.
  const marked = whole.replaceAll(/['\\]/g, octal);
  return `$'${marked.replaceAll(unseen, (character) => named[character] ?? octal(character))}'`;
}

export const pythonLiteral = (text: string): string => doubleQuoted(text);

export const scriptLiteral = (text: string): string => {
  const quoted = doubleQuoted(text, inUnicode, /['\\]/g);
  return `'${quoted.slice(1, -1)}'`;
};

/** Between single quotes, and over lines if need be; PHP and Ruby fill in nothing there. */
const singleQuoted = (text: string): string => `'${text.toWellFormed().replaceAll(/['\\]/g, '\\$&')}'`;

export const phpLiteral = (text: string): string =>
  hasUnseen(text, '\n\t')
    ? doubleQuoted(text, (character) => `\\u{${hex(character, 1)}}`, /["\\$]/g)
    : singleQuoted(text);

export const rubyLiteral = (text: string): string =>
  hasUnseen(text, '\n\t') ? doubleQuoted(text, inUnicode, /["\\#]/g) : singleQuoted(text);

/** Text of several lines stands between backticks, where nothing is escaped. */
export const goLiteral = (text: string): string =>
  text.includes('\n') && !text.includes('`') && !hasUnseen(text, '\n\t')
    ? `\`${text.toWellFormed()}\``
    : doubleQuoted(text);

/** The compiler reads `\u000a` as a line break before it looks for quotes, so controls are octal. */
const inJava = (character: string): string =>
  character < '\u0100' ? `\\${(character.codePointAt(0) ?? 0).toString(8).padStart(3, '0')}` : inUnicode(character);

/** A text block has several lines. It loses spaces at the ends of lines, and some readers take `//` at their start for a comment. */
export const javaLiteral = (text: string): string =>
  text.includes('\n') && !hasUnseen(text, '\n\t') && !/[ \t](?:\n|$)|^\s*\//m.test(text)
    ? `"""\n${text.toWellFormed().replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"').replace(/"$/, '\\"')}"""`
    : doubleQuoted(text, inJava);

/** A raw text has several lines, and ends where there are as many quotes as before it. */
export function csharpLiteral(text: string): string {
  if (!text.includes('\n') || hasUnseen(text, '\n\t')) return doubleQuoted(text);
  const longest = Math.max(2, ...(text.match(/"+/g) ?? []).map((run) => run.length));
  const quotes = '"'.repeat(longest + 1);
  return `${quotes}\n${text.toWellFormed()}\n${quotes}`;
}
