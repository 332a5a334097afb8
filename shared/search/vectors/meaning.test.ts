import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unitVector } from '#shared/embedding/embedder.ts';
import { meaningOf, onlyByMeaning, typicalCosineOf } from './meaning.ts';
import { packVector, unpackVector } from './sqlite-vectors.ts';

const cosine = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, number, at) => sum + number * (b[at] ?? 0), 0);

const vector = fc
  .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 256, maxLength: 256 })
  .map((numbers) => unitVector(numbers))
  .filter((unit) => unit !== undefined);

test('a vector of bytes has nearly the same cosines', () => {
  fc.assert(
    fc.property(vector, vector, (a, b) => {
      const packed = packVector(a);
      expect(packed).toHaveLength(4 + 256);
      expect(Math.abs(cosine(unpackVector(packed), b) - cosine(a, b))).toBeLessThan(0.01);
    }),
    { numRuns: 200 },
  );
});

test('the typical cosine is the mean over all pairs', () => {
  fc.assert(
    fc.property(fc.array(vector, { minLength: 2, maxLength: 8 }), (vectors) => {
      const pairs = vectors.flatMap((a, at) => vectors.slice(at + 1).map((b) => cosine(a, b)));
      const mean = pairs.reduce((sum, each) => sum + each, 0) / pairs.length;
      expect(typicalCosineOf(vectors)).toBeCloseTo(Math.max(0, mean), 5);
    }),
    { numRuns: 50 },
  );
  expect(typicalCosineOf([])).toBe(0);
  expect(typicalCosineOf([Float32Array.of(1, 0)])).toBe(0);
});

test('similarity begins at the usual cosine between passages', () => {
  expect([meaningOf(0.7, 0.7), meaningOf(0.5, 0.7), meaningOf(1, 0.7), meaningOf(1, 1)]).toEqual([0, 0, 1, 0]);
  expect(meaningOf(0.85, 0.7)).toBeCloseTo(0.5);
});

test('a passage of low similarity is no candidate by meaning only, and their number is limited', () => {
  const neighbours = new Map(Array.from({ length: 80 }, (_, at) => [at, 1 - at / 100] as const));
  expect(onlyByMeaning(neighbours, new Set([0, 2]))).toEqual([1, ...Array.from({ length: 49 }, (_, at) => at + 3)]);
  expect(
    onlyByMeaning(
      new Map([
        ['a', 0.5],
        ['b', 0.19],
      ]),
      new Set(),
    ),
  ).toEqual(['a']);
});
