import { expect, test } from 'vitest';
import { chunksIn, chunksOutside, countChunks, hasChunk, withChunk, withChunks, withoutChunk } from './chunk-bitmap.ts';

test('an added chunk is in the set, and only that one', () => {
  const bitmap = withChunk('', 9, 20);
  expect([8, 9, 10, 19].map((chunk) => hasChunk(bitmap, chunk))).toEqual([false, true, false, false]);
});

test('adding twice changes nothing, removing undoes it', () => {
  const once = withChunk(withChunk('', 3, 20), 17, 20);
  expect(withChunk(once, 17, 20)).toBe(once);
  expect(withoutChunk(once, 17)).toBe(withChunk('', 3, 20));
  expect(withoutChunk(once, 5)).toBe(once);
  expect(withoutChunk(once, 99)).toBe(once);
});

test('a union has the chunks of both sets, of which each may be shorter than the plan', () => {
  const [few, many] = [withChunk('', 2, 3), withChunk(withChunk('', 2, 20), 17, 20)];
  expect(chunksIn(withChunks(few, many, 20))).toEqual([2, 17]);
  // The set is as long as one of this plan that grew chunk by chunk.
  expect(withChunks(many, few, 20)).toBe(many);
  expect(chunksIn(withChunks('', '', 20))).toEqual([]);
});

test('counts and complements agree', () => {
  const some = [0, 7, 8, 63, 64].reduce((bitmap, chunk) => withChunk(bitmap, chunk, 70), '');
  const other = withChunk('', 1, 70);
  expect(countChunks(some)).toBe(5);
  expect(chunksOutside(70, some, other)).toHaveLength(64);
  expect(chunksOutside(3, '', '')).toEqual([0, 1, 2]);
});
