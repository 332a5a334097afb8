import type { Element } from 'hast';
import { h } from 'hastscript';
import { expect, test } from 'vitest';
import { writeContent } from '../content/write-content.ts';
import { safeStyle } from './safe-attributes.ts';

const cases: [style: string, kept: string | undefined][] = [
  ['color: red; margin-top: 4px', 'color: red; margin-top: 4px'],
  ['position: fixed; inset: 0', 'inset: 0'],
  ['background: url(https://x)', undefined],
  ['background: u\\72l(https://x)', undefined],
  ['width: 10px; background-image: image-set("x" 1x)', 'width: 10px'],
  ['z-index: 2147483647', undefined],
  ['--tree-highlight: #fff', '--tree-highlight: #fff'],
  ['behavior: x; -moz-binding: y', undefined],
  ['color: red/* ; */; width: 1px', 'color: red; width: 1px'],
];

test.each(cases)('%s', (style, kept) => {
  expect(safeStyle(style)).toBe(kept);
});

test.each([
  ['url(#dots)', true],
  ['url("#dots") red', true],
  ['url(https://example.com/a.svg#b)', false],
  ["url( '//example.com/a' )", false],
  ['u\\72l(https://example.com/a)', false],
])('a drawing is painted with %s: %s', (fill, stays) => {
  const path: Element = {
    type: 'element',
    tagName: 'path',
    properties: { d: 'M0 0', fill, stroke: fill },
    children: [],
  };
  const drawing: Element = { type: 'element', tagName: 'svg', properties: {}, children: [path] };
  const { text } = writeContent([drawing]).html;
  expect(text).toMatch(/^<svg><path d="M0 0"/);
  expect(text.match(/ (?:fill|stroke)="/g) ?? []).toHaveLength(stays ? 2 : 0);
  expect(text).not.toContain('example.com');
});

test('a link of only an icon has its address as its name', () => {
  const written = (...children: Parameters<typeof h>[2][]) =>
    writeContent([h('a', { href: 'https://example.com/a' }, ...children)]).html.text;
  expect(written(h('span'))).toContain(' aria-label="example.com/a"');
  expect(written('words')).not.toContain('aria-label');
  expect(written(h('img', { src: '/a.png', alt: 'A' }))).not.toContain('aria-label');
});
