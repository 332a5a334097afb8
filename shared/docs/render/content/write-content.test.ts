import type { Element, ElementContent } from 'hast';
import { h, s } from 'hastscript';
import { expect, test } from 'vitest';
import { SafeHtml } from '../html.ts';
import { renderedContent } from '../test-project.ts';
import type { Typeset } from './content-tree.ts';
import type { ResolveAddress } from '../sanitize/safe-attributes.ts';
import { writeContent } from './write-content.ts';

const code = (text: string): Typeset => ({
  type: 'typeset',
  of: 'code',
  html: () => new SafeHtml('<span class="line">coloured</span>'),
  text,
});

test('code is written as HTML, and as text in the search and in drawings, which it would break out of', () => {
  const { html, sections } = writeContent([
    h('pre', [h('code', [code('a < b')])]),
    s('svg', [s('text', [code('a < b')])]),
  ]);
  expect(html.text).toBe('<pre><code><span class="line">coloured</span></code></pre><svg><text>a &lt; b</text></svg>');
  expect(sections).toEqual([{ anchor: '', heading: '', text: 'a < b' }]);
});

test('missing elements of a table are added, and the texts of its cells stay apart', () => {
  const table = h('table', ['\n', h('td', 'a'), h('td', 'b'), '\n', h('tr', ['x', h('i', 'y'), h('td', 'z')])]);
  const { html, sections } = writeContent([table]);
  expect(html.text).toBe(
    '<table><tbody><tr><td>a</td><td>b</td></tr><tr><td>x<i>y</i></td><td>z</td></tr></tbody></table>',
  );
  expect(sections[0]?.text).toBe('a\nb\nxy\nz');
});

test('the tree stays unchanged, so that parts of it may be shared', () => {
  const frozen = (element: Element): Element => {
    for (const child of element.children) if (child.type === 'element') frozen(child);
    Object.freeze(element.properties);
    Object.freeze(element.children);
    return Object.freeze(element);
  };
  const link = frozen(h('a', { href: 'https://example.com', target: 'x', onclick: 'x' }, h('center', h('p', h('hr')))));
  expect(writeContent([link, link]).html.text).toMatch(
    /^(<a href="https:\/\/example\.com\/" target="_blank".*<\/a>)\1$/,
  );
});

test('a heading in a link has no link to itself, which would be checked', async () => {
  const { content, page } = await renderedContent('<a href="/other"><h2>Title</h2></a>\n\n## Second', {
    'other.mdx': 'x',
  });
  expect(content).toContain('<a href="./other.html"><h2 id="title">Title</h2></a>');
  expect(page.links).toEqual(['/other', '/page#second']);
});

test('ids in headings are ids of the page; those of drawings are not', () => {
  const heading = h('h2', { id: 'title' }, [h('a', { id: 'old-name' }), 'Title']);
  const drawing = s('svg', { id: 'drawing' }, [s('linearGradient', { id: 'gradient' })]);
  expect(writeContent([heading, drawing]).ids).toEqual(['title', 'old-name', 'drawing']);
});

test('a repeated element is written as any other, in every place and with every id', () => {
  const alike = {};
  const element = (id: string): Element =>
    h('div', { className: ['field'], id }, [
      h('code', [h('a', { href: `#${id}` }, 'size')]),
      h('p', 'How <large> it is'),
    ]);
  const around: ((node: ElementContent) => ElementContent)[] = [
    (node) => h('section', [h('p', ['before', node, 'after'])]),
    (node) => h('details', [h('summary', 'More'), node]),
    (node) => h('table', [h('tr', [h('td', [node])])]),
    (node) => h('h2', { id: 'title' }, [node]),
    (node) => h('a', { href: '/elsewhere' }, [node]),
    (node) => h('button', [node]),
    (node) => h('p', { className: ['tab-title'] }, [node]),
    (node) => h('table', [node]),
  ];
  const ids = ['size', 'response-200-size', 'a "quoted" id', 'größe', 'id-to-replace-5c1f', '{key}'];
  for (const place of around) {
    for (const id of ids) {
      const [repeated, plain] = [{ type: 'repeated', id, alike, element } as const, element(id)].map((node) => {
        const resolved: string[] = [];
        const resolve: ResolveAddress = (_, written) => {
          resolved.push(written);
          return written;
        };
        const addresses = { resolve, sizeOf: () => undefined, missingImage: '' };
        return { written: writeContent([place(node), place(node)], { addresses }), resolved };
      });
      expect(repeated).toEqual(plain);
    }
  }
});

test('the text of repeated elements has the same limit as other text', () => {
  const alike = {};
  const element = (id: string): Element =>
    h('div', { id }, [h('a', { href: `#${id}` }, id), h('p', 'x'.repeat(30_000))]);
  const nodes = Array.from({ length: 9 }, (_, at) => ({ type: 'repeated', id: `f${at}`, alike, element }) as const);
  const plain = nodes.map(({ id }) => element(id));
  expect(writeContent(nodes)).toEqual(writeContent(plain));
});
