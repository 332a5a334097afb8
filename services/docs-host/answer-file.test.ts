import { expect, test } from 'vitest';
import { encodingFor, isKnown, prefersMarkdown } from './answer-file.ts';

const copy = { size: 1, sha256: '' };

test.each([
  [undefined, undefined],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['br;q=0, *', 'gzip'],
  ['identity', undefined],
  ['GZIP;q=0.5', 'gzip'],
])('with Accept-Encoding %s the copy is %s', (accepted, encoding) => {
  expect(encodingFor(accepted, { size: 9, br: copy, gzip: copy })).toBe(encoding);
});

test('a file that has no copy is sent as it is', () => {
  expect(encodingFor('br, gzip', { size: 9 })).toBeUndefined();
});

test('a file that lacks its copies is compressed for the reader, unless it is large', () => {
  const lacking = { size: 1024 * 1024, lacksCopies: true } as const;
  expect(['br', 'gzip, br', 'gzip', 'identity'].map((accepted) => encodingFor(accepted, lacking))).toEqual([
    ...['br', 'br', 'gzip'],
    undefined,
  ]);
  expect(encodingFor('br', { ...lacking, size: 1024 * 1024 + 1 })).toBeUndefined();
});

test.each([
  ['text/markdown', true],
  ['text/markdown, text/html;q=0.9', true],
  ['text/html, text/markdown', true],
  ['text/html, text/markdown;q=0.5', false],
  ['text/html,application/xhtml+xml,*/*;q=0.8', false],
  ['*/*', false],
  [undefined, false],
  ['text/markdown;q=0', false],
])('Accept %s asks for Markdown: %s', (accept, wanted) => {
  expect(prefersMarkdown({ ...(accept !== undefined && { accept }) })).toBe(wanted);
});

test.each([
  ['"abc"', true],
  ['W/"abc"', true],
  ['"x", W/"abc-br" , "y"', true],
  ['"abc-gzip"', true],
  ['*', true],
  ['abc', false],
  ['"abc-zstd"', false],
  ['"abcd"', false],
  ['"', false],
  [`${','.repeat(14_000)}"abc"`, false],
])('If-None-Match %.30s names the bytes "abc": %s', (header, known) => {
  expect(isKnown(header, 'abc')).toBe(known);
});
