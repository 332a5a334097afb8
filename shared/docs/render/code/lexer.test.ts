import { expect, test } from 'vitest';
import { ownLexers } from './languages/own-lexers.ts';
import type { Runs } from './runs.ts';

const coloured = (language: string, code: string): Runs => {
  const lexer = ownLexers.get(language);
  if (lexer === undefined) throw new Error(`there is no lexer of ${language}`);
  return lexer(code);
};

/** Pieces as `class:text`; pieces without a class are their text only. */
const pieces = (language: string, code: string): string[] =>
  coloured(language, code)
    .lines()
    .flat()
    .map(({ text, className }) => (className === undefined ? text : `${className}:${text}`));

const samples: [language: string, code: string, expected: string[]][] = [
  ['javascript', 'const { a } = b.c(d);', ['tk:const', ' { ', 'tc:a', ' } ', 'tk:=', ' ', 'tc:b', '.', 'tf:c', '(d);']],
  ['javascript', 'x = a / b / c', ['x ', 'tk:=', ' a ', 'tk:/', ' b ', 'tk:/', ' c']],
  ['javascript', 'x = /[/"]\\/x/g', ['x ', 'tk:=', ' ', 'te:/[/"]\\/x/g']],
  ['javascript', '`a ${{ b: `c` }} d`', ['te:`a ', 'tk:${', '{ b', 'tk::', ' ', 'te:`c`', ' }', 'tk:}', 'te: d`']],
  [
    'jsx',
    'f(<A b="c" d={{ e: 1 }}>if <b>x</b></A>)',
    [
      ...[
        'tf:f',
        '(<',
        'tc:A',
        ' ',
        'tf:b',
        'tk:=',
        'te:"c"',
        ' ',
        'tf:d',
        'tk:=',
        '{{ e',
        'tk::',
        ' ',
        'tc:1',
        ' }}>if <',
        'te:b',
      ],
      ...['>x</', 'te:b', '></', 'tc:A', '>)'],
    ],
  ],
  [
    'typescript',
    'let a: Map<string> = b < c',
    ['tk:let', ' a', 'tk::', ' ', 'tf:Map', '<', 'tc:string', '> ', 'tk:=', ' b ', 'tk:<', ' c'],
  ],
  [
    'python',
    'def f(a: int, b=g(1)) -> str:',
    [
      'tk:def',
      ' ',
      'tf:f',
      '(',
      'tp:a',
      ': ',
      'tc:int',
      ', ',
      'tp:b',
      'tk:=',
      'tf:g',
      '(',
      'tc:1',
      ')) -> ',
      'tc:str',
      ':',
    ],
  ],
  [
    'python',
    "f\"a{b[\"c\"]}\" + '''d\ne'''",
    ['tk:f', 'te:"a', 'tc:{', 'b[', 'te:"c"', ']', 'tc:}', 'te:"', ' ', 'tk:+', ' ', "te:'''d", "te:e'''"],
  ],
  [
    'bash',
    'A="$B" c -d <<EOF | e\n$x\nEOF\nf',
    ['A', 'tk:=', 'te:"$B"', ' ', 'tf:c', ' ', 'ts:-d', ' ', 'tk:<<', 'EOF', 'te: | e', 'te:$x', 'EOF', 'tf:f'],
  ],
  [
    'yaml',
    'a: |\n  b: c\nd: [e, "f"] # g',
    ['tk:a: |', 'ts:  b: c', 'tk:d:', ' [', 'ts:e', ', ', 'te:"f"', '] ', 'tm:# g'],
  ],
  [
    'markup',
    '<script>let a = "<b>"</script><c d=e>',
    [
      '<',
      'te:script',
      '>',
      'tk:let',
      ' a ',
      'tk:=',
      ' ',
      'te:"<b>"',
      '</',
      'te:script',
      '><',
      'te:c',
      ' ',
      'tf:d',
      'tk:=',
      'tf:e',
      '>',
    ],
  ],
  [
    'markup',
    '<style>a{b:1px}</style>',
    ['<', 'te:style', '>', 'te:a', '{', 'tc:b', 'tk::', 'tc:1', 'tk:px', '}</', 'te:style', '>'],
  ],
  ['sql', "select 'it''s' from a -- b", ['tk:select', ' ', "te:'it''s'", ' ', 'tk:from', ' a ', 'tm:-- b']],
];

test.each(samples)('%s: %s', (language, code, expected) => {
  expect(pieces(language, code)).toEqual(expected);
});

const repeated = (piece: string): string => piece.repeat(Math.ceil(50_000 / piece.length));

/** Texts for which a pattern could search far ahead or back. */
const hostile = [
  '"',
  '`${',
  '/*',
  '</a[',
  '<a ',
  '<script>',
  '{',
  'a(',
  'a ',
  'f"{',
  '"""',
  ' #',
  '<<EOF\n',
  'x: |\n',
  'a = (b',
  'A<',
];

test('text of any length is read once, without loss', () => {
  for (const lexer of new Set(ownLexers.values())) {
    for (const piece of hostile) {
      const code = repeated(piece);
      const { ends } = lexer(code);
      expect(ends.at(-1)).toBe(code.length);
      expect(ends.every((end, at) => end > (ends[at - 1] ?? 0))).toBe(true);
    }
  }
});

test('each line of a string has its own span, an empty line has none', () => {
  const html = coloured('python', 'a = """b\n\n  c"""').html();
  expect(html).toBe('a <span class="tk">=</span> <span class="te">"""b</span>\n\n<span class="te">  c"""</span>');
});
