import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { cutIntoParts } from './s3-uploads.ts';

test.each([
  [[], ['!']],
  [['ab'], ['ab!']],
  [['abcd'], ['abcd!']],
  [['abcd', ''], ['abcd!']],
  [
    ['ab', 'cdefghijk'],
    ['abcd', 'efgh', 'ijk!'],
  ],
  [['abcdefgh'], ['abcd', 'efgh!']],
])('%j in parts of four, ! marks the last', async (chunks, expected) => {
  const parts: string[] = [];
  for await (const { bytes, last } of cutIntoParts(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), 4)) {
    parts.push(`${Buffer.from(bytes).toString()}${last ? '!' : ''}`);
  }
  expect(parts).toEqual(expected);
});
