import { after, before, continues, type Cursor, isCapital, lexer, type Lexer, type Rule, word } from '../lexer.ts';
import { plain } from '../runs.ts';

const keywords = `as async await break case catch class const continue debugger default delete do else export extends finally for from
  function get if import in instanceof let new of return set static super switch throw try typeof var void while with yield`;
const keywordsOfTypes = `enum implements interface keyof private protected public readonly satisfies type declare namespace abstract is infer
  asserts`;
const constants = 'true false null undefined NaN Infinity this';
const types = 'string number boolean any unknown never object bigint symbol void';

const [dot, colon, equals, opening, question, less] = [0x2e, 0x3a, 0x3d, 0x28, 0x3f, 0x3c];

/** Matches the text after the name of a function. */
const makesFunction =
  /[ \t]{0,9}[:=][ \t]{0,9}(?:async\b[ \t]{0,9})?(?:function\b|\([^()\n]{0,200}\)[ \t]{0,9}(?::[^=\n]{0,80})?=>|[\w$]{1,50}[ \t]{0,9}=>)/y;

function isFunction({ code, end }: Cursor): boolean {
  makesFunction.lastIndex = end;
  return makesFunction.test(code);
}

const inCapitals = /^[A-Z][A-Z\d_$]+$/;

/** Class of a member: `.name`. */
function member(cursor: Cursor): string {
  const next = after(cursor);
  if (next === opening) return 'tf';
  if (next === dot || continues(cursor, '?.')) return 'tc';
  if (next === equals && isFunction(cursor)) return 'tf';
  const text = cursor.code.slice(cursor.from, cursor.end);
  return text === 'length' || inCapitals.test(text) ? 'tc' : plain;
}

const name =
  (hasTypes: boolean) =>
  (cursor: Cursor): string => {
    const next = after(cursor);
    if (next === opening) return 'tf';
    if (next === dot || (next === question && continues(cursor, '?.'))) return 'tc';
    if ((next === equals || next === colon) && isFunction(cursor)) return 'tf';
    if (isCapital(cursor)) {
      if (hasTypes && (next === less || isTypePlace(cursor))) return 'tf';
      if (inCapitals.test(cursor.code.slice(cursor.from, cursor.end))) return 'tc';
    }
    return plain;
  };

const isLabel = ({ code, from, end }: Cursor): boolean => code.slice(from, end) === 'default';

/** True if a capitalized word here is the name of a type. */
function isTypePlace(cursor: Cursor): boolean {
  const previous = before(cursor);
  return previous === colon || previous === less || previous === 0x7c || previous === 0x26;
}

/** True where a value may begin: there `/` begins a regular expression and `<` an element. */
function beginsValue(cursor: Cursor): boolean {
  const previous = before(cursor);
  if (previous === -1 || previous === 0x0a) return true;
  const character = String.fromCharCode(previous);
  if (/[(,=:[!&|?{};~^%*+>-]/.test(character)) return true;
  if (!/[a-z]/.test(character)) return false;
  const { code, from } = cursor;
  return /\b(?:return|typeof|case|default|await|yield|of|in)[ \t]{0,9}$/.test(code.slice(Math.max(0, from - 20), from));
}

const strings: Rule[] = [
  ['"', /"(?:\\[^]|[^"\\\n])*"?/, 'te'],
  ["'", /'(?:\\[^]|[^'\\\n])*'?/, 'te'],
  ['`', /`/, 'te', 'template'],
];
const comments: Rule[] = [
  ['/', /\/\/.*/, 'tm'],
  ['/', /\/\*[^]*?(?:\*\/|$(?![^]))/, 'tm'],
];

/** `hasTypes`: the language is TypeScript. `hasElements`: the code may contain JSX. */
function javascript(hasTypes: boolean, hasElements: boolean): Lexer {
  const code: Rule[] = [
    ...comments,
    ...strings,
    ['.', /\.\.\./, 'tk'],
    ['.', /\.\d[\w.]*/, 'tc'],
    ['.', /\.#?(?=[A-Za-z_$])/, plain, 'member'],
    ['?', /\?\.(?=[A-Za-z_$])/, plain, 'member'],
    ['\\d', /\d[\w.]*/, 'tc'],
    ['c', /const(?=[ \t]{0,9}[{[])/, 'tk', 'pattern'],
    ['c', /const(?=[ \t]{1,9}[\w$])/, 'tk', 'constant'],
    [
      'A-Za-z_$\u0080',
      /[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*/,
      word(
        hasTypes
          ? { tk: `${keywords} ${keywordsOfTypes}`, tc: `${constants} ${types}` }
          : { tk: keywords, tc: constants },
        {
          names: { tf: 'function class interface type enum extends implements new' },
          isName: (cursor) => after(cursor) === colon && !continues(cursor, '::') && !isLabel(cursor),
          other: name(hasTypes),
        },
      ),
    ],
    ['@', /@[\w$.]+/, 'tf'],
    ['{', /\{/, plain, 'code'],
    ['}', /\}/, plain, 'back'],
    [
      '/',
      /\/(?:\\.|\[(?:\\.|[^\]\\\n]){0,200}\]|[^/\\\n[]){1,300}\/[a-z]*/,
      (cursor) => (beginsValue(cursor) ? 'te' : undefined),
    ],
    ...(hasElements ? elementRules : []),
    ...(hasTypes ? generics : []),
    [':?=!<>+*%&|^~\\-', /=>|[:?=!<>+*%&|^~-]+/, 'tk'],
    ['/', /\/=?/, 'tk'],
  ];
  return lexer({
    code,
    member: [['A-Za-z_$#\u0080', /[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*/, member, 'back']],
    constant: [['A-Za-z_$', /[A-Za-z_$][\w$]*/, (cursor) => (isFunction(cursor) ? 'tf' : 'tc'), 'back']],
    pattern: [
      ...comments,
      ...strings,
      ['A-Za-z_$', /[A-Za-z_$][\w$]*(?=[ \t]{0,9}:)/, plain],
      ['A-Za-z_$', /[A-Za-z_$][\w$]*/, 'tc'],
      ['}\\]', /[}\]]/, plain, 'back'],
      [':=.', /[:=.]+/, 'tk'],
    ],
    template: [
      ['`', /`/, 'te', 'back'],
      ['$', /\$\{/, 'tk', 'inserted'],
      ['^`$', /(?:\\[^]|\$(?!\{)|[^`\\$])+/, 'te'],
      ['\\\\', /\\/, 'te'],
    ],
    inserted: [['}', /\}/, 'tk', 'back'], ...code],
    tag: [
      ...comments,
      ...strings,
      ['A-Za-z_', /[A-Za-z_][\w:.-]*/, 'tf'],
      ['=', /=/, 'tk'],
      ['{', /\{/, plain, 'code'],
      ['/', /\/>/, plain, 'back'],
      ['>', />/, plain, '=children'],
    ],
    children: [['<', /<\//, plain, '=end'], ...elementStarts, ['{', /\{/, plain, 'code']],
    name: [
      ['a-z', /[a-z][\w:-]*(?![\w$.])/, 'te', '=tag'],
      ['A-Za-z_$', /[A-Za-z_$][\w$.:-]*/, 'tc', '=tag'],
      ['>', />/, plain, '=children'],
    ],
    end: [
      ['a-z', /[a-z][\w:-]*(?![\w$.])/, 'te'],
      ['A-Za-z_$', /[A-Za-z_$][\w$.:-]*/, 'tc'],
      ['>', />/, plain, 'back'],
    ],
  });
}

const elementStarts: Rule[] = [['<', /<(?=[A-Za-z_$>])/, plain, 'name']];
const elementRules: Rule[] = [
  ['<', /<(?=[A-Za-z_$>])/, (cursor) => (beginsValue(cursor) && !isGeneric(cursor) ? plain : undefined), 'name'],
];

/** True for `<T,>(…) => …` and `<T extends …>`. */
const isGeneric = ({ code, end }: Cursor): boolean => /^\w+(?:,|\s+extends\b)/.test(code.slice(end, end + 80));

/** Brackets of type parameters, without blanks inside. */
const generics: Rule[] = [
  ['<', /(?<=[\w$])<(?=[\w{[('"$])/, plain],
  ['>', /(?<=[\w\]}>)"'])>+(?=[([,;)}{ \n:?=|&[]|$)/m, plain],
];

export const javascriptLexer = javascript(false, true);
export const typescriptLexer = javascript(true, false);
export const tsxLexer = javascript(true, true);
