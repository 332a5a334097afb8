import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { visit } from 'unist-util-visit';
import { expect, test } from 'vitest';
import { linkFilter } from './answer-links.ts';

/** What Markdown is made of, and links that must not come through. */
const pieces = [
  ...['[x](//e)', '[x](javascript:a)', '[1]: //e', ']: //e\n', '](//e)', '(//e)', '<a href="//e">', '<//e>', '&#91;'],
  ...['https://e.example', 'www.e.example', '[y](/ok)', '[y](</ok#) [z](//e>)', '[1]', '[^1]', '[^1]: ', '[', ']'],
  ...['`', '``', '```', '~~~', '\n', '\n\n', '\r\n', ' ', '    ', '\t', '> ', '- ', '1. ', '2. ', '* ', '- [ ] ', '# '],
  ...['a', 'b c', '|', '|-|\n', '|a|b|\n|-|-|\n', '\\', '!', '![', '<', '>', '<!--', '-->', '<pre>\n', '(', ')', '"'],
  ...['---\n', '===\n', '*', '_', '\u00a0'],
];

const isOurs = (url: string): boolean => url === '/ok' || url.startsWith('/ok#');

/** The same texts each time. */
function* texts(count: number): Generator<string> {
  let state = 7;
  const below = (limit: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * limit);
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

test('a reader of Markdown finds no link that was not let through, whatever the answer is made of', async () => {
  for (const text of texts(1_500)) {
    const whole = linkFilter(isOurs);
    const shown = (await whole.push(text)) + (await whole.end());
    const piecemeal = linkFilter(isOurs);
    let same = '';
    for (const character of text) same += await piecemeal.push(character);
    expect(same + (await piecemeal.end())).toBe(shown);
    expect({ text, links: readLinks(shown).filter((url) => !isOurs(url)) }).toEqual({ text, links: [] });
  }
});
