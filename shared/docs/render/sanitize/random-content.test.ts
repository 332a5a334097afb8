import type { Element, ElementContent, Root, RootContent } from 'hast';
import { fromHtml } from 'hast-util-from-html';
import { find, html as htmlNames, svg as svgNames } from 'property-information';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../../test/support/chaos/fault-injection.ts';
import { html } from '../html.ts';
import { writeHtml } from '../write-html.ts';
import { contentSchema, sanitizeContent } from './sanitize-content.ts';

/** Elements of every kind, allowed or not, nested in ways that no author would write. */
const names = [
  ...new Set([
    ...(contentSchema.tagNames ?? []),
    ...(contentSchema.strip ?? []),
    ...'p p p a a div span li tr td table title title iframe svg svg button h2 base meta link form font nobr image body html head'.split(
      ' ',
    ),
  ]),
];
const attributes =
  'title href src className id style alt dataX dataTitle lang align width value colSpan open download target role ariaLabel viewBox d fill type hidden onclick srcDoc dataA<b data"x'.split(
    ' ',
  );
const pieces = [
  ...[
    '</title>',
    '</iframe>',
    '</script>',
    '</style>',
    '</textarea>',
    '<script>pwned(1)</script>',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
  ],
  ...[
    '<',
    '>',
    '"',
    "'",
    '&',
    '&lt;',
    '&#60;',
    '&amp;lt',
    '&notit;',
    '`',
    '=',
    '/',
    '\\',
    '\n',
    '\r',
    '\t',
    ' ',
    '\f',
    '\u0000',
    '\u0007',
    '\u00a0',
  ],
  ...[
    '\u2028',
    '\ufffe',
    '\ud800',
    '\u202e',
    'javascript:',
    'https://example.com/',
    '#a',
    '/b',
    'word',
    'é',
    '😀',
    '<img src=x onerror=pwned(2)>',
    '<svg/onload=pwned(3)>',
  ],
];

type Random = () => number;

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const repeated = <T>(random: Random, most: number, make: () => T): T[] =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, make);
const randomText = (random: Random): string => repeated(random, 4, () => pick(random, pieces)).join('');

function randomElement(random: Random, depth: number): Element {
  const properties = Object.fromEntries(
    repeated(random, 3, () => {
      const name = pick(random, attributes);
      const value = name === 'className' ? repeated(random, 3, () => randomText(random)) : randomText(random);
      return [name, random() < 0.1 ? true : value];
    }),
  );
  const children = depth === 0 ? [] : repeated(random, 4, () => randomNode(random, depth - 1));
  return { type: 'element', tagName: pick(random, names), properties, children };
}

function randomNode(random: Random, depth: number): ElementContent {
  if (random() < 0.3) return { type: 'text', value: randomText(random) };
  return random() < 0.03 ? { type: 'comment', value: randomText(random) } : randomElement(random, depth);
}

const randomTree = (random: Random): Root => ({
  type: 'root',
  children: repeated(random, 4, () => randomNode(random, Math.floor(random() * 7))),
});

/** A tree as lines, in which only what a reader or a browser can tell apart differs. */
function outline(nodes: readonly (RootContent | ElementContent)[], inSvg = false, indent = ''): string[] {
  const lines: string[] = [];
  let text = '';
  const endText = () => {
    if (text !== '') lines.push(indent + JSON.stringify(text));
    text = '';
  };
  for (const node of nodes) {
    if (node.type === 'text') text += allowed(node.value);
    if (node.type !== 'element') continue;
    endText();
    const isDrawn = inSvg || node.tagName === 'svg';
    lines.push(`${indent}${isDrawn ? 'svg:' : ''}${node.tagName} ${outlineOf(node, isDrawn)}`);
    lines.push(...outline(node.children, isDrawn, `${indent} `));
  }
  endText();
  return lines;
}

/** Attributes, as what the tree's types make of their values: flags, numbers and lists. */
const outlineOf = ({ properties }: Element, isDrawn: boolean): string =>
  Object.entries(properties)
    .flatMap(([name, value]) => {
      const info = find(isDrawn ? svgNames : htmlNames, name);
      if (value === undefined || value === null || value === false) return [];
      const list = Array.isArray(value) || info.spaceSeparated || info.commaSeparated || info.commaOrSpaceSeparated;
      const text = allowed(Array.isArray(value) ? value.join(' ') : String(value === true ? '' : value));
      const isNumber = info.number && !Number.isNaN(Number(text));
      const shown = info.boolean
        ? ''
        : isNumber
          ? Number(text)
          : list
            ? text
                .split(/[\s,]+/)
                .join(' ')
                .trim()
            : text;
      return [`${info.attribute.toLowerCase()}=${JSON.stringify(shown)}`];
    })
    .sort()
    .join(' ');

const allowed = (text: string): string =>
  text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');

const seed = Number(process.env['BINDERY_SEED'] ?? 20_260_301);
const trees = 10_000;

describe('random content', () => {
  test(`of ${trees} trees, a parser sees the tree that was meant, and nothing that runs (seed ${seed})`, () => {
    const numbers = seededRandom(seed);
    const random = () => numbers.fraction();
    for (let number = 0; number < trees; number += 1) {
      const meant = sanitizeContent(randomTree(random));
      const page =
        html`<!doctype html><html><head></head><body><main>${writeHtml(meant)}</main><p>after</p></body></html>`.text;
      const body = fromHtml(page).children.flatMap((node) => (node.type === 'element' ? node.children : []))[1];
      const [main, after, ...more] = body?.type === 'element' ? body.children : [];
      expect(outline(main?.type === 'element' ? main.children : [], false)).toEqual(outline(meant.children));
      expect(after).toMatchObject({ tagName: 'p', children: [{ value: 'after' }] });
      expect(more).toEqual([]);
      expect(page).not.toMatch(/<script|onerror="|onclick="|"[^"<]*<[^"]*">/);
    }
  }, 120_000);
});
