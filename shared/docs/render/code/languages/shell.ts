import { before, type Cursor, lexer, type Rule, word } from '../lexer.ts';
import { plain } from '../runs.ts';

const keywords = `if then elif else fi for while until do done case esac in function select time export local readonly declare typeset unset
  return break continue exit`;
/** Keywords that a command follows. */
const beforeCommand = /(?:^|[\s;|&({`])(?:if|then|elif|else|do|while|until|time|!)[ \t]{1,9}$/;

/** True where a command may begin: at the start of a line, after an operator of the shell, some keywords, assignments or a prompt. */
function isCommand(cursor: Cursor): boolean {
  const { code, from } = cursor;
  const previous = before(cursor);
  if (previous === -1 || previous === 0x0a) {
    // A line that continues the previous one does not begin a command.
    const lineEnd = code.lastIndexOf('\n', from);
    return lineEnd < 1 || code.charCodeAt(lineEnd - 1) !== 0x5c;
  }
  const character = String.fromCharCode(previous);
  if ('|;&(`{'.includes(character)) return true;
  const near = code.slice(Math.max(0, from - 60), from);
  const begins = near.lastIndexOf('\n') + 1;
  // Text far from the start of its line is not the beginning of a command.
  const line = begins > 0 || from <= 60 ? near.slice(begins) : `. ${near}`;
  return /^[ \t]{0,9}(?:[$#%>][ \t]|\w+=\S*[ \t]{1,9})$/.test(line) || beforeCommand.test(line);
}

const argument: Rule = ['^\\s"\'`$|&;<>()\\\\#', /(?:\\[^]|[^\s"'`$|&;<>()\\=]|=)+/, 'ts'];

const variables: Rule[] = [
  ['$', /\$\(\(?/, 'te', 'inserted'],
  ['$', /\$\{[^}\n]*\}?/, plain],
  ['$', /\$(?:\w+|[*@#?$!-])/, plain],
];
const strings: Rule[] = [
  ['"', /"/, 'te', 'text'],
  ["'", /'[^']*'?/, 'te'],
  ['$', /\$'(?:\\[^]|[^'\\])*'?/, 'te'],
];

const code: Rule[] = [
  ['#', /(?<=^|\s)#.*/m, 'tm'],
  ...strings,
  ...variables,
  ['`', /`/, 'te'],
  ['\\\\', /\\(?=\n)/, plain],
  ['\\\\', /\\[^]?/, 'tc'],
  ['<', /<<-?(?=[ \t]{0,9}['"]?[A-Za-z_])/, 'tk', 'hereName'],
  ['<', /<[a-zA-Z][\w. -]{0,60}>/, 'ts'],
  [
    '|&;<>',
    /\d?(?:>>?|<<?<?)&?\d?|\|\|?|&&?|;;?/,
    (cursor) => (cursor.code.charAt(cursor.from) === ';' ? plain : 'tk'),
  ],
  ['A-Za-z_', /[A-Za-z_]\w*(?=\+?=)/, (cursor) => (isCommand(cursor) || isExported(cursor) ? plain : undefined)],
  ['=', /=/, (cursor) => (/\w/.test(cursor.code.charAt(cursor.from - 1)) ? 'tk' : undefined)],
  ['A-Za-z_!', /[A-Za-z_]\w*(?=[\s;)]|$)|!(?=\s)/m, (cursor) => (isCommand(cursor) ? keyword(cursor) : undefined)],
  ['A-Za-z_.~/', /[\w.~/@+:-]+(?=[\s;|&)<>?]|$)/m, (cursor) => (isCommand(cursor) ? 'tf' : undefined)],
  ['!=', /(?:!=|==?)(?=\s)/, 'tk'],
  ['\\[\\]', /\[\[?(?=\s)|\]\]?(?=[\s;]|$)/m, plain],
  ['\\-', /--?[\w-]+/, 'ts'],
  ['\\d', /\d+(?:\.\d+)*(?=[\s;)]|$)/m, 'tc'],
  ['tf', /(?:true|false)(?=[\s;)]|$)/m, 'tc'],
  ['*', /\*/, 'tk'],
  argument,
];

const keyword = word({ tk: `${keywords} !` }, { other: 'tf' });

const isExported = ({ code, from }: Cursor): boolean =>
  /(?:^|\s)(?:export|local|readonly|declare)[ \t]{1,9}$/.test(code.slice(Math.max(0, from - 20), from));

/** Class of a here-document: moves the end to the line with the name that precedes the text. */
function hereText(cursor: Cursor): string {
  const { code, from } = cursor;
  const [, name = ''] = /(\w+)['"]?$/.exec(code.slice(Math.max(0, from - 80), from)) ?? [];
  const close = new RegExp(`\\n[ \\t]{0,99}${name}(?=\\n|$)`).exec(code.slice(from));
  cursor.end = close === null ? code.length : from + close.index + 1;
  return 'te';
}

export const shellLexer = lexer(
  {
    code,
    hereName: [['^\\n', /[ \t]{0,9}['"]?\w+['"]?/, plain, '=hereText']],
    hereText: [['^\\0', /[^]/, hereText, '=hereEnd']],
    hereEnd: [['^\\0', /[ \t]{0,99}\w*/, plain, 'back']],
    text: [
      ['"', /"/, 'te', 'back'],
      ['$', /\$\(\(?/, 'te', 'inserted'],
      ['^"$\\\\`', /[^"$\\`]+/, 'te'],
      ['`', /`/, 'te'],
      ['$', /\$/, 'te'],
      ['\\\\', /\\[^]?/, 'te'],
    ],
    inserted: [[')', /\)\)?/, 'te', 'back'], ...code],
  },
  { inserted: 'ts' },
);
