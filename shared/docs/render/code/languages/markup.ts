import { lexer, type Rule } from '../lexer.ts';
import { plain } from '../runs.ts';
import { cssLexer } from './css.ts';
import { javascriptLexer } from './javascript.ts';

const attributes: Rule[] = [
  ['=', /=/, 'tk'],
  ['"', /"[^"]*"?/, 'te'],
  ["'", /'[^']*'?/, 'te'],
  ['{', /\{/, plain, 'braces'],
  ['A-Za-z_:@#*(\\[', /[A-Za-z_:@#*([][\w:.@()[\]*-]*/, 'tf'],
];

/** HTML and XML. Attribute values may be in braces. */
export const markupLexer = lexer({
  text: [
    ['<', /<!--[^]*?(?:-->|$(?![^]))/, 'tm'],
    ['<', /<!\[CDATA\[[^]*?(?:\]\]>|$(?![^]))/, 'ts'],
    ['<', /<!(?=[A-Za-z])/, plain, 'declaration'],
    ['<', /<\?/, plain, 'instruction'],
    ['<', /<(?=script[\s>])/i, plain, 'script'],
    ['<', /<(?=style[\s>])/i, plain, 'style'],
    ['<', /<\/?(?=[A-Za-z])/, plain, 'name'],
    ['&', /&#?\w{1,40};/, 'tc'],
  ],
  name: [['A-Za-z', /[A-Za-z][\w:.-]*/, 'te', '=tag']],
  tag: [['/>', /\/?>/, plain, 'back'], ...attributes],
  braces: [
    ['{', /\{/, plain, 'braces'],
    ['}', /\}/, plain, 'back'],
    ['"', /"(?:\\[^]|[^"\\\n])*"?/, 'te'],
    ["'", /'(?:\\[^]|[^'\\\n])*'?/, 'te'],
    ['\\d', /\d[\d.]*/, 'tc'],
  ],
  declaration: [
    ['A-Za-z', /(?<=!)[A-Za-z]+/, 'te'],
    ['A-Za-z', /[\w-]+/, 'tf'],
    ['"', /"[^"]*"?/, 'te'],
    ['>', />/, plain, 'back'],
  ],
  instruction: [['A-Za-z', /(?<=\?)[\w:.-]+/, 'te'], ['?', /\?>/, plain, 'back'], ...attributes],
  script: [
    ['A-Za-z', /(?<=<)[A-Za-z]+/, 'te'],
    ['/', /\/>/, plain, 'back'],
    ['>', />/, plain, '=scriptCode'],
    ...attributes,
  ],
  scriptCode: [
    ['^\\0', /(?:[^<]|<(?!\/script))+/i, { lexer: javascriptLexer }, 'back'],
    ['<', /<\//, plain, '=name'],
  ],
  style: [
    ['A-Za-z', /(?<=<)[A-Za-z]+/, 'te'],
    ['/', /\/>/, plain, 'back'],
    ['>', />/, plain, '=styleCode'],
    ...attributes,
  ],
  styleCode: [
    ['^\\0', /(?:[^<]|<(?!\/style))+/i, { lexer: cssLexer }, 'back'],
    ['<', /<\//, plain, '=name'],
  ],
});
