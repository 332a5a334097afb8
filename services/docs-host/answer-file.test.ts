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
  expect(encodingFor(accepted, { br: copy, gzip: copy })).toBe(encoding);
});

test('a file that has no copy is sent as it is', () => {
  expect(encodingFor('br, gzip', {})).toBeUndefined();
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
