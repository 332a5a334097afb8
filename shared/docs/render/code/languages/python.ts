import { after, before, type Cursor, lexer, type Rule, word } from '../lexer.ts';
import { plain } from '../runs.ts';

const keywords = `and as assert async await break case class continue def del elif else except finally for from global if import in is lambda
  match nonlocal not or pass raise return try while with yield`;
const constants = 'True False None NotImplemented Ellipsis __name__ __file__ __doc__ __all__';
const types = 'int str float bool dict list set tuple bytes bytearray complex frozenset object type';
const typeNames = new Set(types.split(' '));
const opening = 0x28;

const isStartOfLine = (cursor: Cursor): boolean => {
  const previous = before(cursor);
  return previous === 0x0a || previous === -1;
};

/** True for soft keywords that are used as names, and for arguments named like a type. */
const isName = (cursor: Cursor): boolean => {
  const { code, from, end } = cursor;
  const next = after(cursor);
  if (code.charCodeAt(from - 1) === 0x2e) return true;
  const text = code.slice(from, end);
  if (next === 0x5b && typeNames.has(text)) return true;
  if (text === 'match' || text === 'case')
    return !isStartOfLine(cursor) || next === opening || next === 0x3d || next === 0x2e;
  return next === 0x3d && code.charCodeAt(end) === 0x3d && code.charCodeAt(end + 1) !== 0x3d;
};

/** A multi-line string that stands alone is a docstring. */
const longText = (cursor: Cursor): string => (isStartOfLine(cursor) ? 'tm' : 'te');

const interpolated = (begins: string, end: RegExp, text: RegExp): Rule[] => [
  [begins, end, 'te', 'back'],
  ['{', /\{\{/, 'te'],
  ['{', /\{/, 'tc', 'inserted'],
  [`^{${begins}`, text, 'te'],
  [`\\\\}${begins}`, /[^]/, 'te'],
];

const code: Rule[] = [
  ['#', /#.*/, 'tm'],
  ['rbRBuU', /[rbuRBU]{1,2}(?=["'])/, 'tk'],
  ['fF', /[fF][rR]?(?=""")/, 'tk', 'beforeLongFormat'],
  ['fF', /[fF][rR]?(?=")/, 'tk', 'beforeFormat'],
  ['fF', /[fF][rR]?(?=')/, 'tk', 'beforeSingleFormat'],
  ['"', /"""(?:\\[^]|[^"\\]|"(?!""))*(?:"""|$(?![^]))/, longText],
  ["'", /'''(?:\\[^]|[^'\\]|'(?!''))*(?:'''|$(?![^]))/, longText],
  ['"', /"(?:\\[^]|[^"\\\n])*"?/, 'te'],
  ["'", /'(?:\\[^]|[^'\\\n])*'?/, 'te'],
  ['@', /@[\w.]+/, (cursor) => (isStartOfLine(cursor) ? 'tf' : undefined)],
  ['\\d', /\d[\w.]*/, 'tc'],
  ['.', /\.\d\w*/, 'tc'],
  ['.', /\.\.\./, 'tc'],
  ['d', /def(?=[ \t]{1,9}\w)/, 'tk', 'definition'],
  [
    'A-Za-z_\u0080',
    /[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*/,
    word(
      { tk: keywords, tc: `${constants} ${types}` },
      { names: { tf: 'class' }, isName, other: (cursor) => (after(cursor) === opening ? 'tf' : plain) },
    ),
  ],
  ['-', /->/, plain],
  ['{', /\{/, plain, 'code'],
  ['}', /\}/, plain, 'back'],
  ['=!<>+*/%&|^~@:\\-', /:=|[=!<>+*/%&|^~@-]+/, 'tk'],
];

const parameters = (end: string): Rule[] => [
  [
    'A-Za-z_',
    /[A-Za-z_]\w*/,
    (cursor) => {
      const previous = before(cursor);
      const isFirst = previous === opening || previous === 0x2c || previous === 0x2a || previous === 0x0a;
      return isFirst ? 'tp' : undefined;
    },
  ],
  ['(', /\(/, plain, 'inside'],
  ['[', /\[/, plain, 'inside'],
  ['{', /\{/, plain, 'inside'],
  [')\\]}', /[)\]}]/, plain, end],
  ...code,
];

export const pythonLexer = lexer({
  code,
  definition: [
    ['\\w', /\w+/, 'tf'],
    ['(', /\(/, plain, '=parameters'],
    [':\\n', /[:\n]/, plain, 'back'],
  ],
  parameters: parameters('back'),
  inside: [['(\\[{', /[([{]/, plain, 'inside'], [')\\]}', /[)\]}]/, plain, 'back'], ...code],
  inserted: [['}', /\}/, 'tc', 'back'], ['!:', /![rsa]|:[^{}'"\n]*/, 'tk'], ...code],
  beforeLongFormat: [['"', /"""/, 'te', '=longFormat']],
  beforeFormat: [['"', /"/, 'te', '=format']],
  beforeSingleFormat: [["'", /'/, 'te', '=singleFormat']],
  longFormat: interpolated('"', /"""/, /(?:\\[^]|[^\\{"])+/),
  format: interpolated('"\\n', /["\n]/, /(?:\\[^]|[^\\{"\n])+/),
  singleFormat: interpolated("'\\n", /['\n]/, /(?:\\[^]|[^\\{'\n])+/),
});
