import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { FormField } from './playground-form.ts';
import { playgroundFiles } from './playground-files.ts';

test('pages get the script, its style sheet and the words of their languages, without comments for types', () => {
  const files = playgroundFiles(['en', 'ar', 'en']);
  expect(files.map(({ path }) => path)).toEqual([
    '_bindery/playground.css',
    '_bindery/playground.js',
    '_bindery/playground/ar.js',
    '_bindery/playground/en.js',
  ]);
  for (const { text } of files) expect(text).not.toMatch(/\/\*\*|@ts-/);
});

const code = readFileSync(new URL('scripts/playground/values.js', import.meta.url), 'utf8');
/** Calls one of the functions that write values. */
const written = (
  name: 'queryParts' | 'pathPart' | 'headerText',
  value: unknown,
  field: Partial<FormField>,
): unknown => {
  const all = { in: 'query', name: 'color', kind: 'text', type: 'string', ...field };
  const args = name === 'queryParts' ? ['color', value, all] : [value, all];
  return runInNewContext(`${code}; JSON.stringify(${name}(...args))`, { args });
};

const [list, object] = [['blue', 'black'], { R: 100, G: 200 }];

// As the tables of OpenAPI have them.
test.each([
  [list, {}, ['color=blue', 'color=black']],
  [list, { explode: false }, ['color=blue,black']],
  [list, { style: 'spaceDelimited' }, ['color=blue%20black']],
  [list, { style: 'pipeDelimited', explode: false }, ['color=blue%7Cblack']],
  [list, { style: 'pipeDelimited', explode: true }, ['color=blue', 'color=black']],
  [object, {}, ['R=100', 'G=200']],
  [object, { explode: false }, ['color=R,100,G,200']],
  [object, { style: 'deepObject', explode: true }, ['color%5BR%5D=100', 'color%5BG%5D=200']],
  [{ a: { b: [1] } }, { style: 'deepObject' }, ['color%5Ba%5D%5Bb%5D%5B0%5D=1']],
  [object, { json: true as const }, ['color=%7B%22R%22%3A100%2C%22G%22%3A200%7D']],
  ['a/b&c#d?', {}, ['color=a%2Fb%26c%23d%3F']],
  ['a/b&c#d?', { reserved: true as const }, ['color=a/b%26c%23d?']],
])('query %j %j', (value, field, expected) => {
  expect(written('queryParts', value, field)).toBe(JSON.stringify(expected));
});

test.each([
  ['a/b', {}, 'a%2Fb'],
  [list, {}, 'blue,black'],
  [object, {}, 'R,100,G,200'],
  [object, { explode: true }, 'R=100,G=200'],
  ['blue', { style: 'label' }, '.blue'],
  [list, { style: 'label', explode: true }, '.blue.black'],
  [object, { style: 'label', explode: true }, '.R=100.G=200'],
  ['blue', { style: 'matrix' }, ';color=blue'],
  [list, { style: 'matrix' }, ';color=blue,black'],
  [list, { style: 'matrix', explode: true }, ';color=blue;color=black'],
  [object, { style: 'matrix' }, ';color=R,100,G,200'],
  [object, { style: 'matrix', explode: true }, ';R=100;G=200'],
])('path %j %j', (value, field, expected) => {
  expect(written('pathPart', value, field)).toBe(JSON.stringify(expected));
});

test.each([
  [list, {}, 'blue,black'],
  [object, {}, 'R,100,G,200'],
  [object, { explode: true }, 'R=100,G=200'],
])('header %j %j', (value, field, expected) => {
  expect(written('headerText', value, field)).toBe(JSON.stringify(expected));
});
