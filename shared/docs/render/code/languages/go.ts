import { after, before, type Cursor, isCapital, isMember, isUpper, lexer, word } from '../lexer.ts';
import { plain } from '../runs.ts';

const keywords = `break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select
  struct switch type var`;
const types = `bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64
  uintptr any comparable`;
const [dot, opening, brace] = [0x2e, 0x28, 0x7b];

function name(cursor: Cursor): string {
  const { code, end } = cursor;
  const next = code.charCodeAt(end);
  if (next === opening) return 'tf';
  if (isMember(cursor)) return isCapital(cursor) && isTypePlace(cursor) ? 'tf' : plain;
  // The name is the package of a type.
  if (next === dot) return isUpper(code.charCodeAt(end + 1)) && isPackageOfType(cursor) ? 'tf' : plain;
  return isCapital(cursor) && (next === brace || isBehindStar(cursor)) ? 'tf' : plain;
}

/** True for `pkg.Name{` and for places where a type ends. */
function isTypePlace({ code, from, end }: Cursor): boolean {
  const next = code.charCodeAt(end);
  if (next === brace) return true;
  if (next !== 0x29 && next !== 0x2c && next !== 0x20 && next !== 0x0a) return false;
  return /[\w\])*&][ \t]{1,9}[*&[\]]{0,4}\w+\.$|[\])*&]\w+\.$|\([*[\]]{0,4}\w+\.$/.test(
    code.slice(Math.max(0, from - 60), from),
  );
}

const typeBehind = /\.[A-Z]\w*[{\s),]/y;

function isPackageOfType(cursor: Cursor): boolean {
  const { code, from, end } = cursor;
  typeBehind.lastIndex = end;
  if (!typeBehind.test(code)) return false;
  const last = typeBehind.lastIndex - 1;
  if (code.charCodeAt(last) === brace) return true;
  return /[\w\])*&][ \t]{1,9}[*&[\]]{0,4}$|[\])*&]$|\([*[\]]{0,4}$/.test(code.slice(Math.max(0, from - 40), from));
}

const isBehindStar = (cursor: Cursor): boolean => before(cursor) === 0x2a || after(cursor) === brace;

export const goLexer = lexer({
  code: [
    ['/', /\/\/.*/, 'tm'],
    ['/', /\/\*[^]*?(?:\*\/|$(?![^]))/, 'tm'],
    ['"', /"/, 'te', 'text'],
    ['`', /`[^`]*`?/, 'te'],
    ["'", /'(?:\\[^]|[^'\\\n])*'?/, 'te'],
    ['\\d', /\d[\w.]*/, 'tc'],
    [
      'A-Za-z_',
      /[A-Za-z_]\w*/,
      word({ tk: `${keywords} ${types}`, tc: 'true false nil iota' }, { names: { tf: 'type package' }, other: name }),
    ],
    ['.', /\.\.\./, 'tk'],
    [':=!<>+*/%&|^\\-', /:=|[=!<>+*/%&|^-]+/, 'tk'],
  ],
  text: [
    ['"\\n', /["\n]/, 'te', 'back'],
    ['%', /%[-+# 0]*[\d.*]*[a-zA-Z%]/, 'tc'],
    ['\\\\', /\\[^]/, 'tc'],
    ['^"%\\\\\\n', /[^"%\\\n]+/, 'te'],
    ['%\\\\', /[%\\]/, 'te'],
  ],
});
