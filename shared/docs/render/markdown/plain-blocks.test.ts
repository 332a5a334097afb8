import type { BlockContent, ListItem, PhrasingContent, TableRow } from 'mdast';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../../test/support/chaos/fault-injection.ts';
import { anyMarkdown, oneBlock } from './page-markdown.ts';
import { plainBlocks } from './plain-blocks.ts';

const words = ['a', 'b c', 'É', '中文', '1', '42', 'www', 'https', 'w', 'e@f', 'x_y', '😀'];
const between = [
  ' ',
  ' ',
  ' ',
  '\n',
  '\n',
  '. ',
  ', ',
  '.',
  ':',
  '-',
  '!',
  '?',
  '(',
  ')',
  '"',
  "'",
  '/',
  '=',
  '+',
  '>',
];
const marks = ['*', '_', '[', ']', '`', '~', '<', '&', '\\', '|', '#', '\t', '$', '{', '}', '@', '\r', '\n\n', '  '];

/** Makes trees as in pages, some with characters that have a meaning in Markdown. Three of four texts are plain. */
class Trees {
  readonly #random: () => number;

  constructor(seed: number) {
    const numbers = seededRandom(seed);
    this.#random = () => numbers.fraction();
  }

  #below = (count: number): number => Math.floor(this.#random() * count);
  #one = <T>(all: readonly T[]): T => all[this.#below(all.length)] as T;
  #some = <T>(most: number, make: () => T, least = 1): T[] =>
    Array.from({ length: least + this.#below(most + 1 - least) }, make);

  text(): string {
    const strange = this.#below(4) === 0;
    const pieces = () => this.#one(words) + this.#one(strange ? [...between, ...marks] : between);
    const value = this.#some(4, pieces).join('');
    return this.#below(3) === 0 ? value : value.trim();
  }

  line(depth = 0): PhrasingContent[] {
    return this.#some(3, () => this.#phrase(depth), this.#below(9) === 0 ? 0 : 1);
  }

  #phrase(depth: number): PhrasingContent {
    const kind = this.#below(depth > 1 ? 5 : 12);
    if (kind < 3) return { type: 'text', value: this.text() };
    if (kind === 3) return { type: 'inlineCode', value: this.text() };
    if (kind === 4) return { type: 'image', url: this.#url(), alt: this.text() };
    if (kind === 5) return { type: 'break' };
    if (kind < 8)
      return { type: 'link', url: this.#url(), title: this.#one([null, this.text()]), children: this.line(depth + 1) };
    if (kind < 10) return { type: 'strong', children: this.line(depth + 1) };
    if (kind === 10) return { type: 'emphasis', children: this.line(depth + 1) };
    return this.#one<PhrasingContent>([
      { type: 'delete', children: this.line(depth + 1) },
      { type: 'inlineMath', value: this.text(), display: false },
      { type: 'linkReference', identifier: 'a', referenceType: 'full', children: this.line(depth + 1) },
    ]);
  }

  #url = (): string => this.#one(['/a', 'https://e.test/b#c', 'www.e.test', this.text(), '', 'a?b&c']);

  blocks(depth = 0): BlockContent[] {
    return this.#some(3, () => this.#block(depth));
  }

  #block(depth: number): BlockContent {
    const kind = this.#below(depth > 1 ? 6 : 12);
    if (kind < 3) return { type: 'paragraph', children: this.line() };
    if (kind === 3) return { type: 'heading', depth: this.#one([1, 2, 3, 6]), children: this.line() };
    if (kind === 4)
      return {
        type: 'code',
        lang: this.#one([null, 'js', this.text()]),
        meta: this.#one([null, 'a="b"', this.text()]),
        value: this.#one(['', `${this.text()}\n\n  x`, '```\n````']),
      };
    if (kind === 5) return { type: 'thematicBreak' };
    if (kind === 6)
      return {
        type: 'table',
        align: this.#one([null, ['left', 'right', 'center', null]]),
        children: this.#some(3, () => this.#row(), 0),
      };
    if (kind === 7) return { type: 'blockquote', children: this.blocks(depth + 1) };
    if (kind === 8) return { type: 'math', value: this.text() };
    const items = this.#some(3, () => this.#item(depth));
    const [ordered, spread] = [this.#below(3) === 0, this.#one([true, false, null])];
    return { type: 'list', ordered, spread, start: this.#one([null, 1, 0, 7]), children: items };
  }

  #item = (depth: number): ListItem => ({
    type: 'listItem',
    spread: this.#one([true, false, null]),
    checked: this.#one([null, null, true, false]),
    children: this.#below(20) === 0 ? [] : this.blocks(depth + 1),
  });

  #row = (): TableRow => ({
    type: 'tableRow',
    children: this.#some(3, () => ({ type: 'tableCell', children: this.line() }), 0),
  });
}

test('blocks equal those of the library', () => {
  let plain = 0;
  for (let seed = 1; seed <= 1_500; seed += 1) {
    const blocks = new Trees(seed).blocks();
    const text = plainBlocks(blocks, oneBlock);
    if (text === undefined) continue;
    plain += 1;
    const expected = anyMarkdown(blocks);
    expect(/^$|[\r\n]$/.test(text) ? text : `${text}\n`, `seed ${seed}`).toBe(expected);
  }
  expect(plain).toBeGreaterThan(1_200);
});

test('typical lines of pages are plain', () => {
  const lines: PhrasingContent[][] = [
    [{ type: 'text', value: 'One line, (of two)\nwith a - dash and 3. things: a/b, e.g. "x" or $5.' }],
    [
      { type: 'strong', children: [{ type: 'text', value: 'A' }] },
      { type: 'text', value: ': b ' },
      { type: 'inlineCode', value: 'c|d_*' },
    ],
    [
      {
        type: 'link',
        url: '/a-b',
        children: [
          { type: 'inlineCode', value: 'a' },
          { type: 'text', value: ' b' },
        ],
      },
      { type: 'text', value: '.' },
    ],
    [
      { type: 'text', value: 'see ' },
      { type: 'emphasis', children: [{ type: 'text', value: 'this' }] },
      { type: 'text', value: '\nand' },
    ],
  ];
  for (const children of lines) {
    let others = 0;
    plainBlocks([{ type: 'paragraph', children }], () => `${(others += 1)}`);
    expect(others).toBe(0);
  }
});
