import { type Cursor, lexer, type Rule } from '../lexer.ts';
import { plain } from '../runs.ts';

/** Class of a block scalar: the following lines that are indented more than the line with its mark. */
function block(cursor: Cursor): string {
  const { code, from } = cursor;
  const begins = code.lastIndexOf('\n', from - 1) + 1;
  const least = indentation(code, begins) + 1;
  let end = code.indexOf('\n', from);
  while (end >= 0) {
    const at = end + 1 + indentation(code, end + 1);
    const isBlankLine = at >= code.length || code.charCodeAt(at) === 0x0a;
    if (!isBlankLine && at - end - 1 < least) break;
    const next = code.indexOf('\n', at);
    if (next < 0) end = code.length;
    else end = next;
    if (next < 0) break;
  }
  cursor.end = end < 0 ? code.length : end;
  return 'ts';
}

function indentation(code: string, begins: number): number {
  let at = begins;
  while (code.charCodeAt(at) === 0x20) at += 1;
  return at - begins;
}

/** Class of a text without quotes: a key if a colon ends it, otherwise by the form of its value. */
function text(cursor: Cursor): string {
  const { code, from, end } = cursor;
  const written = code.slice(from, end).trimEnd();
  cursor.end = from + written.length;
  if (code.charCodeAt(end) === 0x3a) return 'tk';
  return constant.test(written) ? 'tc' : 'te';
}

const constant =
  /^(?:true|false|null|~|yes|no|on|off|[-+]?(?:\d[\d_]*)?\.?\d+(?:e[-+]?\d+)?|0x[\da-f]+|\.inf|\.nan|\d{4}-\d\d-\d\d(?:[t ][\d:.z+-]*)?)$/i;

const common: Rule[] = [
  ['#', /(?<=^|\s)#.*/m, 'tm'],
  ['"', /"(?:\\[^]|[^"\\])*"?/, 'te'],
  ["'", /'(?:''|[^'])*'?/, 'te'],
  [':', /:(?=\s|$)/, 'tk'],
  ['&*', /[&*][\w-]+/, 'tc'],
  ['!', /!\S*/, 'tk'],
  ['\\[{', /[[{]/, plain, 'flow'],
];

export const yamlLexer = lexer({
  lines: [
    ['-', /---.*|-(?=\s|$)/m, plain],
    ['?', /\?(?=\s)/, 'tk'],
    ['|>', /[|>][-+\d]*(?=[ \t]{0,20}(?:#.*)?$)/m, 'tk', 'block'],
    ...common,
    ['^\\s#', /(?:[^\s:#]|:(?!\s|$)|(?<=\S)#|[ \t]{1,40}(?![\s#]))+/m, text],
  ],
  block: [['^\\0', /[^]/, block, 'back']],
  flow: [
    ...common,
    ['\\]}', /[\]}]/, plain, 'back'],
    [',', /,/, plain],
    ['^\\s#,\\[\\]{}', /(?:[^\s:#,[\]{}]|:(?!\s|$)|(?<=\S)#|[ \t]{1,40}(?![\s#,[\]{}]))+/m, flowText],
  ],
});

function flowText(cursor: Cursor): string {
  const found = text(cursor);
  return found === 'te' ? 'ts' : found;
}
