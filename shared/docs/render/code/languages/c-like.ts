import { after, continues, type Cursor, isCapital, isMember, lexer, type Lexer, type Rule, word } from '../lexer.ts';
import { plain } from '../runs.ts';

/** Differences between languages with braces and `//` comments. */
type Language = {
  keywords: string;
  constants: string;
  /** Further words by class. */
  more?: Readonly<Record<string, string>>;
  /** Class of the name after a word. */
  names?: Readonly<Record<string, string>>;
  /** Class of a name, depending on its surroundings; undefined: plain. */
  name: (cursor: Cursor) => string | undefined;
  /** Rules that precede the shared ones. */
  rules?: readonly Rule[];
  operators?: Rule;
};

const [dot, opening, less, colon] = [0x2e, 0x28, 0x3c, 0x3a];

/** Matches another name after this one, as after the type in a declaration. */
const declares = /(?:<[\w<>,?. []{0,60}>)?(?:\[\])*\??[ \t]{1,9}[A-Za-z_]\w*[ \t]{0,9}[=;,)({:]/y;
function isTypeOfDeclaration({ code, end }: Cursor): boolean {
  declares.lastIndex = end;
  return declares.test(code);
}
const callsGeneric = /<[\w<>,?. []{0,60}>\(/y;
function isCall(cursor: Cursor): boolean {
  const next = after(cursor);
  if (next === opening) return true;
  if (next !== less) return false;
  callsGeneric.lastIndex = cursor.end;
  return callsGeneric.test(cursor.code);
}
const inCapitals = /^[A-Z][A-Z\d_]+$/;
const isInCapitals = ({ code, from, end }: Cursor): boolean => inCapitals.test(code.slice(from, end));

/** A string that may span lines. */
const longText: Rule = ['"', /"(?:\\[^]|[^"\\])*"?/, 'te'];
const doubleQuoted: Rule = ['"', /"(?:\\[^]|[^"\\\n])*"?/, 'te'];
const singleQuoted: Rule = ["'", /'(?:\\[^]|[^'\\\n])*'?/, 'te'];
const lineComment: Rule = ['/', /\/\/.*/, 'tm'];
const longComment: Rule = ['/', /\/\*[^]*?(?:\*\/|$(?![^]))/, 'tm'];

const cLike = (language: Language): Lexer =>
  lexer({
    code: codeRules(language),
    imported: [
      [';\\n', /[;\n]/, plain, 'back'],
      ['\\w', /\w+/, 'tk'],
    ],
    text: [
      ['"', /"/, 'te', 'back'],
      ['{', /\{\{/, 'te'],
      ['{', /\{/, 'te', 'inserted'],
      ['^"{\\\\', /[^"{\\]+/, 'te'],
      ['\\\\', /\\[^]?/, 'te'],
    ],
    inserted: [['}', /\}/, 'te', 'back'], ...codeRules(language)],
  });

function codeRules({ keywords, constants, more = {}, names = {}, name, rules = [], operators }: Language): Rule[] {
  const known = word({ tk: keywords, tc: constants, ...more }, { names, other: (cursor) => name(cursor) ?? plain });
  return [
    ...rules,
    lineComment,
    longComment,
    doubleQuoted,
    singleQuoted,
    ['\\d', /\d[\w.]*/, 'tc'],
    ['A-Za-z_', /[A-Za-z_]\w*/, known],
    operators ?? ['=!<>+*/%&|^~?:\\-', /[=!<>+*/%&|^~?:-]+/, 'tk'],
  ];
}

/** Angle brackets around types, directly beside a name. */
const generics: Rule[] = [
  ['<', /(?<=[\w:])<(?=[\w(&'?[])/, plain],
  ['>', /(?<=[\w\])>?])>+(?=[()[\]{},.;> \n:=?]|$)/m, plain],
];

export const javaLexer = cLike({
  keywords: `abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally float for goto
    if implements instanceof int interface long native new package private protected public record return sealed short static strictfp super
    switch synchronized this throw throws transient try var void volatile while yield permits`,
  constants: 'true false null',
  names: { tf: 'class interface enum record extends implements new' },
  rules: [
    ['"', /"""[^]*?(?:"""|$(?![^]))/, 'te'],
    ['i', /import(?=\s)/, 'tk', 'imported'],
    ['@', /@\w+/, 'tf'],
    ...generics,
  ],
  name(cursor) {
    if (isCall(cursor)) return 'tf';
    const next = cursor.code.charCodeAt(cursor.end);
    if (next === dot) return isMember(cursor) ? undefined : 'tc';
    if (isInCapitals(cursor)) return 'tc';
    if (!isMember(cursor) && isCapital(cursor)) return 'tk';
    return undefined;
  },
});

export const rustLexer = cLike({
  keywords: `as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return self static struct
    super trait type union unsafe use where while yield`,
  constants: 'true false',
  more: { tf: 'bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize' },
  names: { tf: 'fn struct enum trait union type mod' },
  rules: [
    ['br', /b?r(#{0,9})"[^]*?(?:"\1|$(?![^]))/, 'te'],
    longText,
    ["'", /'[A-Za-z_]\w*(?!')/, 'tf'],
    ['A-Za-z_', /[A-Za-z_]\w*!(?=[([{ ])/, 'tf'],
    ...generics,
  ],
  name(cursor) {
    if (isInCapitals(cursor)) return 'tc';
    if (isCapital(cursor) || isCall(cursor)) return 'tf';
    if (cursor.code.startsWith('::<', cursor.end)) return 'tf';
    return undefined;
  },
  operators: ['=!<>+*/%&|^?:.\\-', /=>|[=!<>+*/%&|^?:.-]+/, 'tk'],
});

export const phpLexer = cLike({
  keywords: `abstract and array as break callable case catch class clone const continue declare default do else elseif enum extends final
    finally fn for foreach function global goto if implements include include_once instanceof insteadof interface isset list match namespace
    new or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield
    int string bool float void mixed`,
  constants: 'true false null TRUE FALSE NULL PHP_EOL __DIR__ __FILE__ self parent',
  more: { tf: 'echo' },
  names: { tf: 'function class interface trait enum', tc: 'new extends implements instanceof' },
  rules: [
    ['<', /<\?(?:php|=)?/, plain],
    ['?', /\?>/, plain],
    ['#', /#\[/, plain],
    ['#', /#.*/, 'tm'],
    longText,
    ["'", /'(?:\\[^]|[^'\\])*'?/, 'te'],
    ['$', /\$this\b/, 'tc'],
    ['$', /\$\w+/, plain],
    ['A-Za-z_\\\\', /\\?[A-Z]\w*(?:\\\w+)+/, 'tc'],
  ],
  name(cursor) {
    const { code, from, end } = cursor;
    if (isCall(cursor)) return 'tf';
    if (after(cursor) === colon && code.charCodeAt(end + 1) !== colon) return 'tf';
    if (code.startsWith('->', from - 2)) return undefined;
    return isCapital(cursor) ? 'tc' : undefined;
  },
  operators: ['=!<>+*/%&|^.?:\\-', /->|=>|::|[=!<>+*/%&|^.?-]+/, 'tk'],
});

export const csharpLexer = cLike({
  keywords: `abstract as async await base bool break byte case catch char checked class const continue decimal default delegate do double dynamic else enum event
    explicit extern finally fixed float for foreach from get goto if implicit in init int interface internal is let lock long namespace new nint object operator
    orderby out override params partial private protected public readonly record ref required return sbyte sealed select set short sizeof stackalloc
    static string struct switch this throw try typeof uint ulong unchecked unsafe ushort using var virtual void volatile when where while yield`,
  constants: 'true false null',
  names: { tf: 'class interface struct enum record new namespace' },
  rules: [['$', /\$@?"/, 'te', 'text'], ['@', /@"(?:""|[^"])*"?/, 'te'], ...generics],
  name(cursor) {
    if (isCall(cursor)) return 'tf';
    const next = cursor.code.charCodeAt(cursor.end);
    if (next === dot || next === 0x5b || continues(cursor, '?.')) return 'tc';
    if (isMember(cursor)) return 'tc';
    if (
      isCapital(cursor) &&
      (isTypeOfDeclaration(cursor) || next === less || cursor.code.charCodeAt(cursor.from - 1) === less)
    )
      return 'tf';
    return undefined;
  },
});

export const dartLexer = cLike({
  keywords: `abstract as assert async await base break case catch class const continue covariant default deferred do dynamic else enum export extends
    extension external factory final finally for get hide if implements import in interface is late library mixin new of on operator part required
    rethrow return sealed set show static super switch sync this throw try typedef var void when while with yield`,
  constants: 'true false null',
  more: { tc: 'true false null int double num bool' },
  rules: [['"\'', /"""[^]*?(?:"""|$(?![^]))|'''[^]*?(?:'''|$(?![^]))/, 'te'], ['@', /@\w+/, 'tf'], ...generics],
  name(cursor) {
    if (isCapital(cursor)) return 'tc';
    return isCall(cursor) ? 'tf' : undefined;
  },
  operators: ['=!<>+*/%&|^?:\\-', /[=!<>+*/%&|^?:-]+/, 'tk'],
});
