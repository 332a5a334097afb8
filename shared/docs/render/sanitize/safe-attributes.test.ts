import fc from 'fast-check';
import type { Element } from 'hast';
import { h } from 'hastscript';
import { expect, test } from 'vitest';
import { writeContent } from '../content/write-content.ts';
import { attributesOf, contentElements, drawnElements } from './content-schema.ts';
import { attributesText, ordinaryAttributes, safeProperties, safeStyle } from './safe-attributes.ts';

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

test('a link with only an icon has its address as its name', () => {
  const written = (...children: Parameters<typeof h>[2][]) =>
    writeContent([h('a', { href: 'https://example.com/a' }, ...children)]).html.text;
  expect(written(h('span'))).toContain(' aria-label="example.com/a"');
  expect(written('words')).not.toContain('aria-label');
  expect(written(h('img', { src: '/a.png', alt: 'A' }))).not.toContain('aria-label');
});

test('the fast paths write the same attributes as the full check', () => {
  const tagName = fc.constantFrom(...contentElements, 'font');
  const element = tagName.chain((name) => {
    const key = fc.constantFrom(...attributesOf(name), 'dataX', 'onclick');
    const text = fc.oneof(fc.constantFrom('', '/a', 'x"<&', 'javascript:x', 'checkbox', 'color: red'), fc.string());
    const value = fc.oneof(
      text,
      fc.array(fc.oneof(text, fc.double())),
      fc.constantFrom(0, 3, Number.NaN, true, false, null, undefined),
    );
    return fc.dictionary(key, value, { maxKeys: 4 }).map((properties): Element => {
      return { type: 'element', tagName: name, properties, children: [] };
    });
  });
  let atOnce = 0;
  fc.assert(
    fc.property(element, fc.constantFrom(undefined, 'span', 'div'), (made, otherName) => {
      const name = otherName ?? made.tagName;
      const written = ordinaryAttributes(made, name);
      if (written === undefined) return;
      atOnce += 1;
      expect(written).toBe(attributesText(safeProperties(made, name, undefined), drawnElements.has(name)));
    }),
    { numRuns: 5_000 },
  );
  expect(atOnce).toBeGreaterThan(500);
});
