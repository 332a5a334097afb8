import type { Element } from 'hast';
import { h, s } from 'hastscript';
import { expect, test } from 'vitest';
import { SafeHtml } from '../html.ts';
import { renderedContent } from '../test-project.ts';
import type { Typeset } from './content-tree.ts';
import { writeContent } from './write-content.ts';

const code = (text: string): Typeset => ({
  type: 'typeset',
  of: 'code',
  html: () => new SafeHtml('<span class="line">coloured</span>'),
  text,
});

test('code is written as it was made, and is text for the search; in a drawing it would break out, and is text there', () => {
  const { html, sections } = writeContent([
    h('pre', [h('code', [code('a < b')])]),
    s('svg', [s('text', [code('a < b')])]),
  ]);
  expect(html.text).toBe('<pre><code><span class="line">coloured</span></code></pre><svg><text>a &lt; b</text></svg>');
  expect(sections).toEqual([{ anchor: '', heading: '', text: 'a < b' }]);
});

test('what a table misses is put around its neighbours, and what is read of it stays apart', () => {
  const table = h('table', ['\n', h('td', 'a'), h('td', 'b'), '\n', h('tr', ['x', h('i', 'y'), h('td', 'z')])]);
  const { html, sections } = writeContent([table]);
  expect(html.text).toBe(
    '<table><tbody><tr><td>a</td><td>b</td></tr><tr><td>x<i>y</i></td><td>z</td></tr></tbody></table>',
  );
  expect(sections[0]?.text).toBe('a\nb\nxy\nz');
});

test('the tree stays as it was, so that parts of it may be shared', () => {
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

test('a heading in a link has no link to itself, and the page none to check', async () => {
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
