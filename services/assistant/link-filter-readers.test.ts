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

/** As the site decides it: where the path leads, whatever it looks like. */
const leadsToOk = (url: string): boolean =>
  /^\/(?![/\\])/.test(url) && URL.parse(url, 'http://site/')?.pathname === '/ok';
/** For a reader, who has decoded what the answer has. */
const isOurs = (url: string): boolean => URL.parse(url, 'http://site/')?.host === 'site' && leadsToOk(url);

/** The same texts each time. */
function* texts(count: number, seed: number): Generator<string> {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * limit);
  };
  for (let made = 0; made < count; made += 1)
    yield Array.from({ length: 3 + below(16) }, () => pieces[below(pieces.length)]).join('');
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

test.each([7, 77, 777, 7_777, 77_777])(
  'a reader of Markdown finds no link that was not let through, whatever the answer is made of: %i',
  async (seed) => {
    for (const text of texts(300, seed)) {
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
