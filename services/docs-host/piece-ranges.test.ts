import { expect, test } from 'vitest';
import { bundleHeaderBytes } from '#shared/contracts/stored-objects.ts';
import { missingRanges, type Piece, placesOfPieces } from './piece-ranges.ts';

const kb = 1024;
const piece = (name: string, size: number): Piece => [size, name];
const all = [piece('a', 100 * kb), piece('b', 10 * kb), piece('c', 20 * kb), piece('d', 900 * kb), piece('e', 5 * kb)];
const sizeBytes = bundleHeaderBytes + 1_035 * kb + 1_100;
const missing = (held: string[], size = sizeBytes) => missingRanges(all, new Set(held), size);

test('the ranges of a bundle are those of the pieces that are not held, and close ones are one', () => {
  const at = (from: number, to: number) => ({ start: bundleHeaderBytes + from * kb, end: bundleHeaderBytes + to * kb });
  expect(placesOfPieces(all).slice(0, 2)).toEqual([bundleHeaderBytes, bundleHeaderBytes + 100 * kb]);
  expect(missing(['a', 'b', 'c', 'd', 'e'])).toEqual([]);
  expect(missing(['a', 'c', 'd', 'e'])).toEqual([at(100, 110)]);
  expect(missing(['c', 'd', 'e'])).toEqual([at(0, 110)]);
  // Between a and c are only ten kilobytes.
  expect(missing(['b', 'd', 'e'])).toEqual([at(0, 130)]);
  expect(missing(['a', 'b', 'd'])).toEqual([at(110, 130), at(1_030, 1_035)]);
});

test('a bundle is downloaded whole if most of it, or many places of it, are missing', () => {
  expect(missing([])).toBeUndefined();
  expect(missing(['a', 'b', 'c', 'e'])).toBeUndefined();
  const many = Array.from({ length: 1_000 }, (_, at) => piece(String(at), at % 2 === 0 ? 10 : 100 * kb));
  const held = new Set(many.filter((_, at) => at % 2 === 1).map(([, name]) => name));
  expect(missingRanges(many, held, 1e9)).toBeUndefined();
});

test('pieces that are longer than the bundle are not used', () => {
  expect(missing(['a', 'c', 'd'], 1_000 * kb)).toBeUndefined();
});
