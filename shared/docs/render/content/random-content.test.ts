import type { Element, ElementContent, RootContent } from 'hast';
import { fromHtml } from 'hast-util-from-html';
import { find, html as htmlNames, svg as svgNames } from 'property-information';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../../test/support/chaos/fault-injection.ts';
import { escapeHtml, html } from '../html.ts';
import { contentElements, mayHave, strippedElements } from '../sanitize/content-schema.ts';
import { voidElements, writeContent } from './write-content.ts';

/** Elements of every kind, allowed or not, nested in arbitrary ways. */
const names = [
  ...new Set([
    ...contentElements,
    ...strippedElements,
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

const randomContent = (random: Random): ElementContent[] =>
  repeated(random, 4, () => randomNode(random, Math.floor(random() * 7)));

const tag = /<(\/?)([A-Za-z][A-Za-z0-9]*)((?: [a-z][A-Za-z0-9_.:-]*(?:="[^"<>]*")?)*)>/y;
const attribute = / ([^ =]+)(?:="([^"]*)")?/g;

/** Reads the tree as it is written: each element ends at its end tag, without the corrections of an HTML parser. */
function literalTree(html: string): ElementContent[] {
  const root: Element = { type: 'element', tagName: '', properties: {}, children: [] };
  const open = [root];
  for (let at = 0; at < html.length; ) {
    const next = html.indexOf('<', at);
    const end = next < 0 ? html.length : next;
    if (end > at) open.at(-1)?.children.push({ type: 'text', value: unescaped(html.slice(at, end)) });
    if (next < 0) break;
    tag.lastIndex = next;
    const [whole = '', isEnd, name = '', written = ''] = tag.exec(html) ?? [];
    if (whole === '') throw new Error(`${html.slice(next, next + 80)} is no tag`);
    at = next + whole.length;
    if (isEnd) {
      if (open.pop()?.tagName !== name) throw new Error(`</${name}> ends nothing`);
      continue;
    }
    const isDrawn = open.some(({ tagName }) => tagName === 'svg') || name === 'svg';
    const properties = Object.fromEntries(
      [...written.matchAll(attribute)].map(([, key = '', value]) => [
        find(isDrawn ? svgNames : htmlNames, key).property,
        value === undefined ? true : unescaped(value),
      ]),
    );
    const element: Element = { type: 'element', tagName: name, properties, children: [] };
    open.at(-1)?.children.push(element);
    if (!voidElements.has(name)) open.push(element);
    // A parser drops the first line break in this element.
    if (name === 'pre' && html[at] === '\n') at += 1;
  }
  expect(open).toEqual([root]);
  return root.children;
}

const escapes = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#39;', "'"],
  ['&#13;', '\r'],
]);
const unescaped = (text: string): string =>
  text.replace(/&[^;]*;?/g, (escape) => {
    const character = escapes.get(escape);
    if (character === undefined) throw new Error(`${escape} is no escape`);
    return character;
  });

/** Elements and attributes that content may not have. */
const unknown = (nodes: readonly (RootContent | ElementContent)[]): string[] =>
  nodes.flatMap((node) => {
    if (node.type !== 'element') return [];
    const { tagName, properties, children } = node;
    // Attributes that the writer adds to links, frames and videos.
    const ours = /^(target|rel|ariaLabel|muted|playsInline|loop|sandbox|referrerPolicy|loading)$/;
    const strange = Object.keys(properties).filter(
      (name) => !ours.test(name) && !mayHave(tagName, name, properties[name]),
    );
    const here = strange.map((name) => `${tagName} ${name}`);
    return [...(contentElements.has(tagName) ? [] : [tagName]), ...here, ...unknown(children)];
  });

/** A tree as lines, which differ only if a reader or a browser would see a difference. */
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

/** Attributes with normalized values: flags, numbers and lists, by their types. */
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
  test(`in ${trees} trees, a parser sees the tree that was meant, and nothing that runs (seed ${seed})`, () => {
    const numbers = seededRandom(seed);
    const random = () => numbers.fraction();
    for (let number = 0; number < trees; number += 1) {
      const { html: written, ids } = writeContent(randomContent(random));
      const page = html`<!doctype html><html><head></head><body><main>${written}</main><p>after</p></body></html>`.text;
      const body = fromHtml(page).children.flatMap((node) => (node.type === 'element' ? node.children : []))[1];
      const [main, after, ...more] = body?.type === 'element' ? body.children : [];
      const seen = main?.type === 'element' ? main.children : [];
      expect(outline(seen)).toEqual(outline(literalTree(written.text)));
      expect(unknown(seen)).toEqual([]);
      for (const id of ids) expect(written.text).toContain(` id="${escapeHtml(id)}"`);
      expect(after).toMatchObject({ tagName: 'p', children: [{ value: 'after' }] });
      expect(more).toEqual([]);
      expect(page).not.toMatch(/<script|onerror="|onclick="|"[^"<]*<[^"]*">/);
    }
  });
});
