import { isCapital, isMember, lexer, type Rule, word } from '../lexer.ts';
import { plain } from '../runs.ts';

const keywords = `alias and begin BEGIN break case class def defined? do else elsif end END ensure for if in module next not or redo rescue retry return self
  super then undef unless until when while yield require require_relative include extend new private public protected raise loop lambda proc
  attr_reader attr_writer attr_accessor`;
const functions = 'puts print p pp sleep format gets';

const inserted: Rule = ['#', /#\{/, 'te', 'inserted'];
const code: Rule[] = [
  ['#', /#.*/, 'tm'],
  ['"', /"/, 'te', 'text'],
  ["'", /'(?:\\[^]|[^'\\])*'?/, 'te'],
  ['`', /`[^`\n]*`?/, 'te'],
  [':', /:"(?:\\[^]|[^"\\\n])*"?/, 'tc'],
  [':', /(?<!:):[A-Za-z_]\w*[?!=]?/, 'tc'],
  ['A-Za-z_', /[A-Za-z_]\w*[?!]?:(?!:)/, 'tc'],
  ['$@', /(?:\$|@@?)\w+/, plain],
  ['\\d', /\d[\w.]*/, 'tc'],
  ['d', /def(?=[ \t]{1,9}\S)/, 'tk', 'definition'],
  [
    'A-Za-z_',
    /[A-Za-z_]\w*[?!]?/,
    word(
      { tk: keywords, tf: functions, tc: 'true false nil __FILE__' },
      {
        names: { tf: 'class module' },
        isName: (cursor) => isMember(cursor) && cursor.code.slice(cursor.from, cursor.end) !== 'new',
        other: (cursor) => {
          if (isCapital(cursor)) return 'tc';
          return isMember(cursor) || cursor.code.charCodeAt(cursor.end) === 0x28 ? 'tf' : plain;
        },
      },
    ),
  ],
  ['{', /\{/, plain, 'code'],
  ['}', /\}/, plain, 'back'],
  ['|', /\|(?=[\w, ]{1,60}\|)/, plain, 'block'],
  ['=!<>+*/%&|^?~\\-', /=>|->|[=!<>+*/%&|^?~-]+/, 'tk'],
];

export const rubyLexer = lexer({
  code,
  text: [['"', /"/, 'te', 'back'], inserted, ['^"#\\\\', /[^"#\\]+/, 'te'], ['#', /#/, 'te'], ['\\\\', /\\[^]?/, 'te']],
  inserted: [['}', /\}/, 'te', 'back'], ...code],
  block: [['|', /\|/, plain, 'back']],
  definition: [
    ['\\w', /(?:self\.)?\w+[?!=]?/, 'tf', '=parameters'],
    ['\\n', /\n/, plain, 'back'],
  ],
  parameters: [
    ['\\n)', /[\n)]/, plain, 'back'],
    ['a-z_', /[a-z_]\w*:/, 'tc'],
    ['a-z_', /(?<=[(,*&] ?)[a-z_]\w*/, 'tp'],
    ...code,
  ],
});
