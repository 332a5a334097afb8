import { expect, test } from 'vitest';
import { encodingFor, isKnown, prefersMarkdown, rangeOf } from './answer-file.ts';

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
  ['bytes=0-9', { start: 0, end: 9 }],
  ['bytes=90-', { start: 90, end: 99 }],
  ['bytes=90-1000', { start: 90, end: 99 }],
  ['bytes=-10', { start: 90, end: 99 }],
  ['bytes=-1000', { start: 0, end: 99 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=999999999999999-', 'unsatisfiable'],
  ['bytes=99999999999999999999-', undefined],
  ['bytes=5-2', undefined],
  ['bytes=-', undefined],
  [`bytes=${'0-,'.repeat(1_000)}0-`, undefined],
  ['lines=1-2', undefined],
  ['bytes=a-b', 'unsatisfiable'],
])('the range %s of 100 bytes', (header, range) => {
  expect(rangeOf(header, 100)).toEqual(range);
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
