import { expect, test } from 'vitest';
import type { Element } from 'hast';
import { h } from 'hastscript';
import { writeContent } from '../content/write-content.ts';

const written = (...children: Element[]): string => writeContent(children).html.text;

test('obsolete presentation attributes become styles, and the author’s styles win', () => {
  const cell = h('td', { align: 'center', vAlign: 'top', width: '20%', style: 'text-align: left' }, 'a');
  expect(written(h('table', h('tr', cell)))).toContain(
    '<td style="text-align: center; vertical-align: top; width: 20%; text-align: left">a</td>',
  );
  expect(written(h('p', { align: 'right' }, 'a'))).toBe('<p style="text-align: right">a</p>');
  expect(written(h('table', { align: 'center', height: 40 }))).toBe(
    '<table style="margin-inline: auto; height: 40px"></table>',
  );
});

test('pictures keep their size', () => {
  expect(written(h('img', { src: '/a.png', alt: '', width: 20, align: 'right' }))).toBe(
    '<img src="/a.png" alt="" width="20" style="float: right">',
  );
});

test('obsolete elements become current ones', () => {
  expect(written(h('center', 'a'), h('tt', 'b'))).toBe('<div style="text-align: center">a</div><code>b</code>');
});

test('an invalid value is dropped', () => {
  expect(written(h('p', { align: 'x; color: red', width: 'calc(1px)' }, 'a'))).toBe('<p>a</p>');
});

test('in a heading there are no blocks, and in a link no labels', () => {
  expect(written(h('h2', h('p', 'a'), h('div', 'b')))).toBe('<h2><span>a</span><span>b</span></h2>');
  expect(written(h('a', { href: '/x' }, h('label', { htmlFor: 'y' }, 'a')))).toBe('<a href="/x"><span>a</span></a>');
});
