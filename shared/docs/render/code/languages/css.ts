import { type Cursor, lexer, type Rule } from '../lexer.ts';
import { plain } from '../runs.ts';

const comments: Rule[] = [
  ['/', /\/\*[^]*?(?:\*\/|$(?![^]))/, 'tm'],
  ['"', /"(?:\\[^]|[^"\\\n])*"?/, 'te'],
  ["'", /'(?:\\[^]|[^'\\\n])*'?/, 'te'],
];

/** A name before a colon is a property, unless an opening bracket comes before the end of the declaration. */
const declares = /[ \t]{0,9}:(?![\w-]{1,40}[^;{}\n]{0,200}\{)/y;

function isProperty({ code, end }: Cursor): boolean {
  declares.lastIndex = end;
  return declares.test(code);
}

const rules: Rule[] = [
  ...comments,
  ['@', /@(?:media|supports|container|layer|import|charset|namespace)\b/, 'tk', 'condition'],
  ['@', /@[\w-]+/, 'tk'],
  ['$', /\$[\w-]+/, 'tc'],
  ['A-Za-z\\-', /-{0,2}[A-Za-z][\w-]*/, (cursor) => (isProperty(cursor) ? 'tc' : undefined), 'value'],
  ['A-Za-z', /[A-Za-z][\w-]*/, 'te'],
  ['.#&', /[.#&][\w-]*/, 'tf'],
  [':', /::?[\w-]+/, 'tf'],
  ['\\[', /\[/, plain, 'attribute'],
  ['*>+~', /[*>+~]/, 'tk'],
  ['{', /\{/, plain, 'rules'],
  ['}', /\}/, plain, 'back'],
];

export const cssLexer = lexer({
  rules,
  condition: [
    ...comments,
    [';', /;/, plain, 'back'],
    ['{', /\{/, plain, '=rules'],
    ['\\d', /\d[\d.]*/, 'tc'],
    ['a-z%', /(?<=\d)(?:%|[a-z]{1,4}\b)/, 'tk'],
    [':<>=', /[:<>=]+/, 'tk'],
    ['a-z', /(?:and|or|not|only)\b/, 'tk'],
    ['A-Za-z\\-', /[A-Za-z-]+/, plain],
  ],
  attribute: [...comments, ['\\]', /\]/, plain, 'back'], ['A-Za-z', /[\w-]+/, 'tf'], ['=~^$*|', /[=~^$*|]+/, 'tk']],
  value: [
    ...comments,
    [':', /:/, 'tk'],
    [';', /;/, plain, 'back'],
    ['}', /(?=\})/, plain, 'back'],
    ['#', /#[\da-fA-F]{3,8}\b/, 'tc'],
    ['\\d.+\\-', /[-+]?(?:\d+\.?\d*|\.\d+)/, 'tc'],
    ['a-z%', /(?<=\d)(?:%|[a-z]{1,4}\b)/, 'tk'],
    ['!', /!\s{0,9}\w+/, 'tk'],
    ['$@', /[$@][\w-]+/, 'tc'],
    ['A-Za-z_\\-', /[A-Za-z_-][\w-]*(?=\()/, 'tf'],
    ['\\-', /--[\w-]+/, 'tc'],
    ['A-Za-z_\\-', /[A-Za-z_-][\w-]*/, 'tc'],
    ['*/+', /[*/+]/, 'tk'],
  ],
});
