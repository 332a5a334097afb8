import { hash } from 'node:crypto';
import { byPath } from './archive-names.ts';

export type ChunkLimits = { minItems: number; maxItems: number; maxBytes: number };

/**
 * Limits for a chunk of pages, which then takes 50 to 200 ms. While a large export uses the pool, a small one waits about that time in each phase;
 * with four times as many pages it waited 3 to 5 times longer. The cost: a large export alone takes a tenth longer.
 */
export const pageChunkLimits: ChunkLimits = { minItems: 8, maxItems: 32, maxBytes: 256_000 };
/** Limits for a chunk of files that are only copied. */
export const assetChunkLimits: ChunkLimits = { minItems: 64, maxItems: 256, maxBytes: 8_000_000 };

/**
 * Cuts items, sorted by path, into runs. A run ends at the item whose path has the smallest hash among the allowed places, so that an added or
 * removed item moves only the adjacent ends; with fixed sizes it would move all later ones. If items are so large that few fit, a run has at least a
 * quarter of those that fit. An item larger than `maxBytes` is a run of its own. Pure.
 */
export function cutChunks<T extends { path: string; sizeBytes: number }>(
  items: readonly T[],
  limits: ChunkLimits,
): T[][] {
  const sorted = items.toSorted(byPath);
  const hashes = sorted.map(({ path }) => hash('sha256', path, 'buffer').readUInt32BE(0));
  const chunks: T[][] = [];
  for (let start = 0; start < sorted.length; ) {
    const length = runLength(sorted, hashes, start, limits);
    chunks.push(sorted.slice(start, start + length));
    start += length;
  }
  return chunks;
}

function runLength(
  items: readonly { sizeBytes: number }[],
  hashes: readonly number[],
  start: number,
  { minItems, maxItems, maxBytes }: ChunkLimits,
): number {
  const left = items.length - start;
  let fitting = 0;
  let bytes = 0;
  while (fitting < Math.min(left, maxItems)) {
    bytes += items[start + fitting]?.sizeBytes ?? 0;
    if (bytes > maxBytes && fitting > 0) break;
    fitting += 1;
  }
  if (fitting === left) return left;
  let best = Math.min(minItems, Math.ceil(fitting / 4));
  for (let length = best + 1; length <= fitting; length += 1) {
    if ((hashes[start + length - 1] ?? 0) < (hashes[start + best - 1] ?? 0)) best = length;
  }
  return best;
}
