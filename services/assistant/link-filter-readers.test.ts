import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { visit } from 'unist-util-visit';
import { expect, test } from 'vitest';
import { linkFilter } from './link-filter.ts';

/** Pieces of Markdown syntax, and links that must not come through. */
const pieces = [
  ...['[x](//e)', '[x](javascript:a)', '[1]: //e', ']: //e\n', '](//e)', '(//e)', '<a href="//e">', '<//e>', '&#91;'],
  ...['https://e.example', 'www.e.example', '[y](/ok)', '[y](</ok#) [z](//e>)', '[1]', '[^1]', '[^1]: ', '[', ']'],
  ...['`', '``', '```', '~~~', '\n', '\n\n', '\r\n', ' ', '    ', '\t', '> ', '- ', '1. ', '2. ', '* ', '- [ ] ', '# '],
  ...['a', 'b c', '|', '|-|\n', '|a|b|\n|-|-|\n', '\\', '!', '![', '<', '>', '<!--', '-->', '<pre>\n', '(', ')', '"'],
  ...[
    '---\n',
    '===\n',
    '*',
    '_',
    '\u00a0',
    '~',
    '+',
    '-',
    ';',
    ':',
    '/',
    '//',
    '.',
    '@',
    '&',
    'e.example',
    'a@e.example',
  ],
  ...[
    'h',
    'http',
    'https',
    'ftp://e.example',
    'w',
    'www',
    '&colon;',
    '&#58;',
    '&#x3a;',
    '&sol;',
    '&#46;',
    '&commat;',
    '&amp;',
  ],
  ...['[](//e)', '[-](//e)', '[1](//e)', '[https:](//e)', '[www](//e)', '[&](//e)', '[<](//e)', '![](//e)', 'mailto:'],
  ...['[y](/ok&sol;//e)', '[y](/&sol;e.example/../ok)', '[y](/ok?a=1&b=2)'],
];

/** The rule of the site: only the page to which a path leads counts, not its notation. */
const leadsToOk = (url: string): boolean =>
  /^\/(?![/\\])/.test(url) && URL.parse(url, 'http://site/')?.pathname === '/ok';
/** The rule for a reader, who has decoded the addresses of the answer. */
const isOurs = (url: string): boolean => URL.parse(url, 'http://site/')?.host === 'site' && leadsToOk(url);

/** Pseudo-random numbers below a limit, the same ones for the same seed. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * limit);
  };
}

/** Texts for tests, the same ones for the same seed. */
function* texts(count: number, seed: number): Generator<string> {
  const below = numbers(seed);
  for (let made = 0; made < count; made += 1)
    yield Array.from({ length: 3 + below(16) }, () => pieces[below(pieces.length)]).join('');
}

/** Marks of quotations and lists, and of code in them. */
const containers = [
  '> ',
  '>',
  '>  ',
  '> > ',
  '- ',
  '-  ',
  '-     ',
  '* ',
  '+ ',
  '1. ',
  '2. ',
  '10. ',
  '2) ',
  '-\t',
  '>\t',
  '-',
];
const indents = ['', '', ' ', '  ', '   ', '    ', '     ', '\t', ' \t'];
const contents = [
  ...[
    '~~~',
    '~~~',
    '~~~~',
    '```',
    '```',
    '````',
    '~~~ a',
    '```js',
    '``` `',
    '~~',
    '`',
    '~~~|',
    '',
    'a',
    '---',
    '* * *',
  ],
  ...[
    'x@e.c',
    '[x](//e)',
    'https://e.example',
    '[1]: //e',
    '<b>',
    '[](//e)~~~',
    '[~](//e)',
    '[-](//e) ~~~',
    '# a',
    '|-|-|',
  ],
];

/** Texts of lines that stand in quotations and lists, begin, continue and leave them, sometimes one column too early or too late. */
function* nestedTexts(count: number, seed: number): Generator<string> {
  const below = numbers(seed);
  const one = (list: readonly string[]): string => list[below(list.length)] ?? '';
  const context = (): string => Array.from({ length: below(4) }, () => one(indents) + one(containers)).join('');
  const continued = (marks: string): string => marks.replaceAll(/[^\t>]/g, ' ');
  for (let made = 0; made < count; made += 1) {
    let marks = context();
    const lines = Array.from({ length: 2 + below(8) }, (_, at) => {
      if (at > 0 && below(4) === 0) marks = below(2) === 0 ? context() : continued(marks) + context();
      const begun = at === 0 || below(5) === 0 ? marks : continued(marks);
      const moved = [
        begun,
        begun,
        begun,
        begun.slice(1),
        `${begun} `,
        begun.slice(0, below(begun.length + 1)),
        begun + one(indents),
      ];
      return one(moved) + one(contents);
    });
    yield lines.join('\n');
  }
}

function readLinks(markdown: string): string[] {
  const tree = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const found: string[] = [];
  visit(tree, (node) => {
    if (node.type === 'link' || node.type === 'image' || node.type === 'definition') found.push(node.url);
    if (node.type === 'html') found.push(node.value);
  });
  return found;
}

test.each([
  ...[7, 77, 777, 7_777, 77_777].map((seed) => [seed, 'pieces', () => texts(300, seed)] as const),
  ...[8, 88, 888].map((seed) => [seed, 'nested blocks', () => nestedTexts(800, seed)] as const),
])(
  'a reader of Markdown finds no link that was not let through, whatever the answer is made of: %i, %s',
  async (_seed, _what, answersOf) => {
    for (const text of answersOf()) {
      const whole = linkFilter(leadsToOk);
      const shown = (await whole.push(text)) + (await whole.end());
      const piecemeal = linkFilter(leadsToOk);
      let same = '';
      for (const character of text) same += await piecemeal.push(character);
      expect(same + (await piecemeal.end())).toBe(shown);
      expect({ text, links: readLinks(shown).filter((url) => !isOurs(url)) }).toEqual({ text, links: [] });
    }
  },
);
