import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import type { FormField } from './playground-form.ts';
import { playgroundFiles } from './playground-files.ts';

test('pages get the script without comments, its style sheet and the texts of their languages', () => {
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
/** Calls one of the functions that serialize values. */
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

// Examples of the tables in the OpenAPI specification.
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

const answerCode = readFileSync(new URL('scripts/playground/answer-text.js', import.meta.url), 'utf8');
const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
/** The text of a response as the reader sees it. */
const shownText = (text: string): { text: string; isWhole: boolean } =>
  JSON.parse(
    runInNewContext(`${answerCode}; JSON.stringify(shownText(text))`, { text, isJson }) as string,
  ) as ReturnType<typeof shownText>;

describe('the text of a response', () => {
  test('is indented JSON with unchanged numbers, names and escapes', () => {
    const sent =
      '{"id":12345678901234567890,"size":1.0,"far":1e400,"id":2,"__proto__":[],"of":{ },"a":["\\u003cb\\"",[null]]}';
    expect(shownText(sent)).toEqual({
      isWhole: true,
      text: `{
  "id": 12345678901234567890,
  "size": 1.0,
  "far": 1e400,
  "id": 2,
  "__proto__": [],
  "of": {},
  "a": [
    "\\u003cb\\"",
    [
      null
    ]
  ]
}`,
    });
  });

  test('equals the result of JSON.stringify if that loses nothing', () => {
    const value = { a: [1, 'x: {y}, [z]', { b: {}, c: [], d: true }], 'e\\"': null };
    expect(shownText(JSON.stringify(value)).text).toBe(JSON.stringify(value, undefined, 2));
  });

  test.each([
    ['levels', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['items', `[${'1,'.repeat(140_000)}1]`],
    ['lines', '\n'.repeat(299_000)],
    ['characters', 'a'.repeat(1_000_000)],
  ])('has at most as many %s as a page can show', (_name, sent) => {
    const shown = shownText(sent);
    expect(shown.isWhole).toBe(false);
    expect(shown.text.length).toBeLessThan(1_000_000);
    expect(shown.text.split('\n').length).toBeLessThanOrEqual(10_001);
  });
});
