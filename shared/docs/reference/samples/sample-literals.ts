/*
 * Texts of a description as literals of programming languages, including quotes. Any text becomes exactly one literal: its characters cannot end the
 * literal, be interpolated, or run, and characters that are invisible or change the direction of text are escaped.
 */

/** Control characters, line separators that editors do not show as such, direction marks, and noncharacters. */
const unseen = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu;
const hasUnseen = (text: string, except = ''): boolean =>
  (text.match(unseen) ?? []).some((character) => !except.includes(character));

const hex = (character: string, digits: number): string =>
  (character.codePointAt(0) ?? 0).toString(16).padStart(digits, '0');

const inUnicode = (character: string): string => `\\u${hex(character, 4)}`;

/** Escapes common to most languages. `\0` is not among them, because Java and others read octal numbers after it. */
const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A C-style literal in double quotes. `unicode` writes an invisible character. */
const doubleQuoted = (text: string, unicode = inUnicode, special = /["\\]/g): string =>
  `"${text
    .toWellFormed()
    .replaceAll(special, '\\$&')
    .replaceAll(unseen, (character) => named[character] ?? unicode(character))}"`;

/** A literal for a shell. Undefined for a text with NUL, which an argument of a command cannot contain. */
export function shellLiteral(text: string): string | undefined {
  const whole = text.toWellFormed();
  if (whole.includes('\0')) return undefined;
  if (!hasUnseen(whole, '\n\t')) return `'${whole.replaceAll("'", "'\\''")}'`;
  const octal = (character: string): string =>
    [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  // Some parsers of shell code do not count backslashes before a quote.
  const marked = whole.replaceAll(/['\\]/g, octal);
  return `$'${marked.replaceAll(unseen, (character) => named[character] ?? octal(character))}'`;
}

export const pythonLiteral = (text: string): string => doubleQuoted(text);

export const scriptLiteral = (text: string): string => {
  const quoted = doubleQuoted(text, inUnicode, /['\\]/g);
  return `'${quoted.slice(1, -1)}'`;
};

/** A literal in single quotes, possibly over several lines; PHP and Ruby interpolate nothing there. */
const singleQuoted = (text: string): string => `'${text.toWellFormed().replaceAll(/['\\]/g, '\\$&')}'`;

export const phpLiteral = (text: string): string =>
  hasUnseen(text, '\n\t')
    ? doubleQuoted(text, (character) => `\\u{${hex(character, 1)}}`, /["\\$]/g)
    : singleQuoted(text);

export const rubyLiteral = (text: string): string =>
  hasUnseen(text, '\n\t') ? doubleQuoted(text, inUnicode, /["\\#]/g) : singleQuoted(text);

/** A literal in Go. Text of several lines is in backticks, where nothing is escaped. */
export const goLiteral = (text: string): string =>
  text.includes('\n') && !text.includes('`') && !hasUnseen(text, '\n\t')
    ? `\`${text.toWellFormed()}\``
    : doubleQuoted(text);

/** Escapes a character in Java. Control characters are octal, because the compiler reads `\u000a` as a line break before it looks for quotes. */
const inJava = (character: string): string =>
  character < '\u0100' ? `\\${(character.codePointAt(0) ?? 0).toString(8).padStart(3, '0')}` : inUnicode(character);

/**
 * A literal in Java. Text of several lines is a text block, unless a line ends in white space, which it drops, or starts like a comment, which
 * confuses some parsers.
 */
export const javaLiteral = (text: string): string =>
  text.includes('\n') && !hasUnseen(text, '\n\t') && !/[ \t](?:\n|$)|^\s*\//m.test(text)
    ? `"""\n${text.toWellFormed().replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"').replace(/"$/, '\\"')}"""`
    : doubleQuoted(text, inJava);

/** A literal in C#. Text of several lines is a raw string, which ends with as many quotes as it begins with. */
export function csharpLiteral(text: string): string {
  if (!text.includes('\n') || hasUnseen(text, '\n\t')) return doubleQuoted(text);
  const longest = Math.max(2, ...(text.match(/"+/g) ?? []).map((run) => run.length));
  const quotes = '"'.repeat(longest + 1);
  return `${quotes}\n${text.toWellFormed()}\n${quotes}`;
}
