import { expect, test } from 'vitest';
import { wrapText } from './wrap-text.ts';

const wrap = (text: string, width: number, most: number) => wrapText(text, ({ length }) => length, { width, most });

test.each([
  ['one two three', 7, 3, ['one two', 'three'], false],
  ['one two three', 20, 1, ['one two three'], false],
  ['one two three four', 7, 2, ['one two', 'three…'], true],
  ['one, two', 5, 1, ['one…'], true],
  ['abcdefghij', 4, 3, ['abcd', 'efgh', 'ij'], false],
  ['abcdefghij k', 4, 2, ['abcd', 'efg…'], true],
  ['a abcdefgh', 4, 3, ['a', 'abcd', 'efgh'], false],
  ['abc', 0, 2, ['a', 'b…'], true],
  ['', 4, 2, [''], false],
])('%j in lines of %d, at most %d', (text, width, most, lines, isCut) => {
  expect(wrap(text, width, most)).toEqual({ lines, isCut });
});
