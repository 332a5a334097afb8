import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { expect, test } from 'vitest';
import { seededRandom } from '../../test/support/chaos/fault-injection.ts';
import { markdownAddress, markdownLine, markdownText } from './markdown-text.ts';

const parsed = (markdown: string) =>
  fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });

const kinds = (node: Nodes): string[] => [node.type, ...('children' in node ? node.children.flatMap(kinds) : [])];
const textOf = (node: Nodes): string => {
  if (node.type === 'text') return node.value;
  const between = node.type === 'root' || node.type === 'blockquote' ? '\n\n' : '';
  return 'children' in node ? node.children.map(textOf).join(between) : '';
};

const pieces = [
  ...'\\ ` ``` * ** _ __ ~ ~~ [ ] ( ) ![ < > & &lt; &#60; # ## - --- + = === | : |-|-| 1. 2) ! $ { } a b word é'.split(
    ' ',
  ),
  ...[
    '<script>alert(1)</script>',
    '[x](javascript:alert(1))',
    '![x](/p.png)',
    '[a]: /b',
    '[^1]',
    '    code',
    '\tcode',
    ' ',
    '\n',
    '\n\n',
  ],
];

test('shows just the text, whatever it has: 1,000 random ones', () => {
  const random = seededRandom(7);
  for (let number = 0; number < 1000; number += 1) {
    const text = Array.from({ length: random.between(1, 8) }, () => pieces[random.between(0, pieces.length - 1)])
      .join('')
      .trim();
    const quote = parsed(markdownText(text).replaceAll(/^/gm, '> '));
    const others = kinds(quote).filter((kind) => !/^(root|blockquote|paragraph|text)$/.test(kind));
    const plain = (written: string) => written.replaceAll(/\s+/g, ' ').trim();
    expect({ others, shown: plain(textOf(quote)) }).toEqual({ others: [], shown: plain(text) });
  }
});

test('leaves names, flags and addresses readable', () => {
  const text = 'Set MAX_SIZE (see https://example.com/a_b) and run a --b=c | d > e.';
  expect(markdownText(text)).toBe(text);
});

test('a link stays one link, whatever its title and address have', () => {
  const title = 'a](javascript:alert(1)) [b `c` *d*\n# e \\';
  const [paragraph] = parsed(`[${markdownLine(title)}](${markdownAddress('/x(1)/y z)[q](w')}):`).children;
  expect(paragraph).toMatchObject({
    type: 'paragraph',
    children: [
      { type: 'link', title: null },
      { type: 'text', value: ':' },
    ],
  });
  expect(paragraph === undefined ? '' : textOf(paragraph)).toBe(`${title.replace('\n', ' ')}:`);
});
