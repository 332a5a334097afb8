import { expect, test } from 'vitest';
import { checkObjectKey, checkObjectPrefix } from './object-store.ts';

test.each(['a', 'a/b.json', 'A~!+@=,() -/.hidden', '...', `${'x'.repeat(200)}/y`])('%s is a key', (key) =>
  expect(() => checkObjectKey(key)).not.toThrow(),
);

test.each([
  ['', 'empty segment'],
  ['/a', 'empty segment'],
  ['a/', 'empty segment'],
  ['a//b', 'empty segment'],
  ['a/../b', 'segment ".."'],
  ['.', 'segment "."'],
  ['a\\b', 'character'],
  ['a\0b', 'character'],
  ['a%2fb', 'character'],
  ['ü', 'character'],
  ['x'.repeat(201), 'longer than 200'],
  ['x/'.repeat(500), 'longer than 900'],
])('%j is no key', (key, reason) => expect(() => checkObjectKey(key)).toThrow(reason));

test('a prefix may end in the middle of a segment, and not climb', () => {
  for (const prefix of ['', 'a', 'a/', 'a/.']) expect(() => checkObjectPrefix(prefix)).not.toThrow();
  for (const prefix of ['../', 'a/../', '/a', 'a//']) expect(() => checkObjectPrefix(prefix)).toThrow('segment');
});
