import { bundleHeaderBytes } from '#shared/contracts/stored-objects.ts';

/** A piece of a bundle: the size of its packed bytes and their SHA-256. */
export type Piece = readonly [sizeBytes: number, sha256: string];

/** Bytes of a bundle, from `start` up to `end`, which is not included. */
export type BundleRange = { start: number; end: number };

/** Maximum gap between two ranges that are fetched as one, because a further request costs more than the bytes of the gap. */
const mostBetween = 32 * 1024;
const mostRanges = 200;
/** Share of a bundle above which it is downloaded whole. */
const mostShare = 0.5;

/** The place of each piece in its bundle. Pure. */
export function placesOfPieces(pieces: readonly Piece[]): number[] {
  let end = bundleHeaderBytes;
  return pieces.map(([sizeBytes]) => (end += sizeBytes) - sizeBytes);
}

/**
 * The ranges of a bundle with all pieces that are not `held`. Undefined if the whole bundle is to be downloaded: because most of it is missing or in too
 * many places, or because the pieces are not those of a bundle of `sizeBytes`. Pure.
 */
export function missingRanges(
  pieces: readonly Piece[],
  held: { has(sha256: string): boolean },
  sizeBytes: number,
): BundleRange[] | undefined {
  const ranges: BundleRange[] = [];
  const places = placesOfPieces(pieces);
  for (const [index, [size, sha256]] of pieces.entries()) {
    const start = places[index] ?? 0;
    const end = start + size;
    if (end > sizeBytes) return undefined;
    if (size === 0 || held.has(sha256)) continue;
    const last = ranges.at(-1);
    if (last !== undefined && start - last.end <= mostBetween) last.end = end;
    else ranges.push({ start, end });
  }
  const bytes = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  return ranges.length > mostRanges || bytes > sizeBytes * mostShare ? undefined : ranges;
}
