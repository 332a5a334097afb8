import { expect, test } from 'vitest';
import { assetChunkLimits, cutChunks, pageChunkLimits } from './cut-chunks.ts';

/** mulberry32, which gives the same numbers in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const page = (path: string, sizeBytes: number) => ({ path, sizeBytes });

function site(count: number, seed: number, maxBytes: number) {
  const next = random(seed);
  return Array.from({ length: count }, (_, at) =>
    page(`section-${Math.floor(at / 12)}/page-${Math.floor(next() * 1e9)}`, 500 + Math.floor(next() * maxBytes)),
  );
}

const paths = (chunk: { path: string }[]) => chunk.map(({ path }) => path).join('\n');

test.each([0, 1, 3, 32, 33, 1000])('%i pages: each once, in order of their paths, within the limits', (count) => {
  const pages = site(count, count, 9000);
  const chunks = cutChunks(pages, pageChunkLimits);
  expect(chunks.flat().map(({ path }) => path)).toEqual(pages.map(({ path }) => path).sort());
  for (const [at, chunk] of chunks.entries()) {
    expect(chunk.length).toBeLessThanOrEqual(32);
    if (at < chunks.length - 1) expect(chunk.length).toBeGreaterThanOrEqual(8);
    expect(chunk.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBeLessThanOrEqual(256_000);
  }
});

test('small pages make chunks of 8 to 32', () => {
  const sizes = cutChunks(site(2000, 5, 1000), pageChunkLimits).map((chunk) => chunk.length);
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThanOrEqual(8);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(32);
});

test('an item that is too large is alone', () => {
  const chunks = cutChunks([page('a', 10), page('b', 300_000), page('c', 10)], pageChunkLimits);
  expect(chunks.map(paths)).toEqual(['a', 'b', 'c']);
});

test('the order of the given pages does not matter', () => {
  const pages = site(300, 3, 5000);
  expect(cutChunks([...pages].reverse(), pageChunkLimits)).toEqual(cutChunks(pages, pageChunkLimits));
});

test('an inserted page changes its own chunk and hardly ever another', () => {
  const changed = [7, 8, 9, 10].flatMap((seed) => {
    const pages = site(1000, seed, 6000);
    const before = new Set(cutChunks(pages, pageChunkLimits).map(paths));
    const next = random(seed + 4);
    return Array.from({ length: 50 }, () => {
      const inserted = page(`section-${Math.floor(next() * 83)}/new-${Math.floor(next() * 1e9)}`, 3000);
      return cutChunks([...pages, inserted], pageChunkLimits).filter((chunk) => !before.has(paths(chunk))).length;
    });
  });
  const onlyItsOwn = changed.filter((count) => count === 1).length;
  expect(onlyItsOwn / changed.length).toBeGreaterThan(0.7);
  expect(changed.reduce((sum, count) => sum + count, 0) / changed.length).toBeLessThan(1.6);
  expect(Math.max(...changed)).toBeLessThan(8);
});

test('the places of cuts are part of the format: they stay the same in every version', () => {
  const lengths = (pages: number, maxBytes: number, limits: typeof pageChunkLimits) =>
    cutChunks(site(300, 1, maxBytes).slice(0, pages), limits)
      .map((chunk) => chunk.length)
      .join(' ');
  expect(lengths(300, 9_000, pageChunkLimits)).toBe('25 9 29 15 13 26 17 28 20 30 25 9 32 22');
  expect(lengths(300, 90_000, assetChunkLimits)).toBe('63 119 118');
  expect(lengths(60, 90_000, pageChunkLimits)).toBe('5 2 6 2 4 2 2 4 3 3 3 5 8 3 1 4 3');
});

test('a run ends at the limits of items and bytes, not before', () => {
  const limits = { minItems: 1, maxItems: 4, maxBytes: 100 };
  const sizes = (...items: number[]) =>
    cutChunks(
      items.map((size, at) => page(`p${at}`, size)),
      limits,
    ).map((chunk) => chunk.length);
  expect(sizes(25, 25, 25, 25)).toEqual([4]);
  expect(sizes(100, 25, 25, 25, 25)).toEqual([1, 4]);
  expect(sizes(100)).toEqual([1]);
  expect(sizes(100, 1)).toEqual([1, 1]);
  expect(sizes(200, 200)).toEqual([1, 1]);
  expect(sizes(60, 40)).toEqual([2]);
  expect(sizes(60, 41)).toEqual([1, 1]);
});
