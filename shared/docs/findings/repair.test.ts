import { expect, test } from 'vitest';
import { type Repair, repaired } from './repair.ts';

const address = (line: number, column: number, from: string, to: string): Repair => ({
  ...{ kind: 'address', file: 'a.mdx', line, column, from, to },
});
const tag = (line: number, column: number, name: string): Repair => ({
  kind: 'void-tag',
  file: 'a.mdx',
  line,
  column,
  name,
});

test('an address is replaced in its link only, and line ends of any system stay', () => {
  const text = '\ufeff# A\r\n\r\nSee /b#hed and [b](/b#hed "title"), <a href="/b#hed">b</a>.\r\n';
  const { text: next, made } = repaired(text, [
    address(3, 17, '/b#hed', '/b#head'),
    address(3, 39, '/b#hed', '/b#head'),
  ]);
  expect(next).toBe('\ufeff# A\r\n\r\nSee /b#hed and [b](/b#head "title"), <a href="/b#head">b</a>.\r\n');
  expect(made).toHaveLength(2);
});

test('a longer address that begins alike stays', () => {
  expect(repaired('[a](/b#hed2) [b](/b#hed)', [address(1, 1, '/b#hed', '/b#head')]).text).toBe(
    '[a](/b#hed2) [b](/b#head)',
  );
});

test('a place without the expected text stays', () => {
  const text = '[a](/c) and <br />';
  expect(repaired(text, [address(1, 1, '/b', '/d'), tag(1, 13, 'br'), tag(1, 2, 'br'), tag(9, 1, 'br')])).toEqual({
    text,
    made: [],
  });
});

test('a tag gets its slash before the bracket that ends it', () => {
  const text = '<img alt="a > b" width={2 > 1 ? 1 : 2}>\n<hr>';
  expect(repaired(text, [tag(1, 1, 'img'), tag(2, 1, 'hr')]).text).toBe(
    '<img alt="a > b" width={2 > 1 ? 1 : 2} />\n<hr />',
  );
});

const redirect = (source: string): Repair => ({ kind: 'redirect', file: 'docs.json', source, destination: '/new' });

test.each([
  ['{}', '{\n  "redirects": [\n    { "source": "/a", "destination": "/new" }\n  ]\n}'],
  [
    '{\r\n    "name": "A",\r\n    "redirects": [],\r\n    "x": ["]"]\r\n}\r\n',
    '{\r\n    "name": "A",\r\n    "redirects": [\r\n        { "source": "/a", "destination": "/new" }\r\n    ],\r\n    "x": ["]"]\r\n}\r\n',
  ],
  [
    '{\n  "redirects": [\n    { "source": "/]", "destination": "/b" }\n  ],\n  "name": "A"\n}\n',
    '{\n  "redirects": [\n    { "source": "/]", "destination": "/b" },\n    { "source": "/a", "destination": "/new" }\n  ],\n  "name": "A"\n}\n',
  ],
])('a redirect is added to %j in the form of its text', (text, expected) => {
  const once = repaired(text, [redirect('/a')]);
  expect(once.text).toBe(expected);
  expect(once.made).toHaveLength(1);
  expect(repaired(once.text, [redirect('/a')])).toEqual({ text: once.text, made: [] });
});

test('a configuration that cannot be read stays', () => {
  for (const text of ['{ "redirects": {} }', '[]', '{ // comment\n}', ''])
    expect(repaired(text, [redirect('/a')]).made).toEqual([]);
});
