import fc from 'fast-check';
import type { Element } from 'hast';
import { h, s } from 'hastscript';
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

test('a drawing keeps its arrow heads, clips, patterns and effects', () => {
  const drawn = s('svg', { viewBox: '0 0 9 9' }, [
    s('defs', [
      s('marker', { id: 'arrow', markerWidth: 8, markerHeight: 6, refX: 8, refY: 3, orient: 'auto' }, [
        s('path', { d: 'M0 0' }),
      ]),
      s('clipPath', { id: 'half', clipPathUnits: 'objectBoundingBox' }, [s('rect', { width: 1, height: 1 })]),
      s('filter', { id: 'soft' }, [s('feGaussianBlur', { in: 'SourceGraphic', stdDeviation: 2 })]),
      s('pattern', { id: 'dots', width: 4, height: 4, patternUnits: 'userSpaceOnUse' }, [s('circle', { r: 1 })]),
    ]),
    s('path', {
      d: 'M1 1',
      markerEnd: 'url(#arrow)',
      clipPath: 'url(#half)',
      filter: 'url(#soft)',
      fill: 'url(#dots)',
    }),
    s('text', [s('textPath', { href: '#line' }, 'along')]),
  ]);
  const { text } = writeContent([drawn]).html;
  expect(text).toContain(
    '<marker id="arrow" markerWidth="8" markerHeight="6" refX="8" refY="3" orient="auto"><path d="M0 0">',
  );
  expect(text).toContain('<clipPath id="half" clipPathUnits="objectBoundingBox"><rect width="1" height="1">');
  expect(text).toContain('<feGaussianBlur in="SourceGraphic" stdDeviation="2">');
  expect(text).toContain('<pattern id="dots" width="4" height="4" patternUnits="userSpaceOnUse">');
  expect(text).toContain('marker-end="url(#arrow)" clip-path="url(#half)" filter="url(#soft)" fill="url(#dots)"');
  expect(text).toContain('<textPath href="#line">along</textPath>');
});

test.each(['markerEnd', 'clipPath', 'mask', 'filter'])('%s of a drawing names nothing outside the page', (name) => {
  const drawn = s('svg', [s('path', { d: 'M0 0', [name]: 'url(https://example.com/a.svg#b)' })]);
  expect(writeContent([drawn]).html.text).not.toContain('example.com');
});

test.each(['https://example.com/a.svg#b', '//example.com', 'javascript:x', '/a.svg#b', 'data:x'])(
  'text of a drawing does not follow the line %s',
  (href) => {
    const drawn = s('svg', [s('text', [s('textPath', { href, xLinkHref: href }, 'along')])]);
    expect(writeContent([drawn]).html.text).toContain('<textPath>along</textPath>');
  },
);

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
