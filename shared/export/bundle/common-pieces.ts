import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { SegmentPiece } from './segment-writer.ts';

/**
 * Run of the values from `begin` up to `end` (not included). With `at`, the other list has the same values in the same order from there on; without
 * it, the other list has none of them.
 */
export type CommonRun = { begin: number; end: number; at?: number };

/** Returns a function that finds the place of a value in a list. If several places have that value, it prefers the one after its last result. */
export function finderIn(others: readonly string[]): (value: string) => number | undefined {
  const known = new Map(others.map((value, number) => [value, number]));
  let next = 0;
  return (value) => {
    const found = others[next] === value ? next : known.get(value);
    next = found === undefined ? Number.NaN : found + 1;
    return found;
  };
}

/** Splits a list into the longest runs that follow one another in the other list, and runs of values that it does not have. Pure. */
export function commonRuns(values: readonly string[], others: readonly string[]): CommonRun[] {
  const find = finderIn(others);
  const runs: CommonRun[] = [];
  for (const [number, value] of values.entries()) {
    const at = find(value);
    const run = runs.at(-1);
    const next = run?.at === undefined ? undefined : run.at + run.end - run.begin;
    if (run !== undefined && at === next) run.end = number + 1;
    else runs.push({ begin: number, end: number + 1, ...(at !== undefined && { at }) });
  }
  return runs;
}

/** Byte offsets of consecutive pieces; the first piece is at `first`. */
export function placesOf(pieces: readonly SegmentPiece[], first: number): number[] {
  let end = first;
  return pieces.map(([sizeBytes]) => (end += sizeBytes) - sizeBytes);
}

/** Reads an object's bytes from `start` up to `end` (not included); undefined if there is no such object. */
export type OpenRange = (start: number, end: number) => Promise<Readable | undefined>;

/**
 * The bytes of pieces that follow one another in an object from `start` on. The stream fails with the error that `damaged` makes before it gives the
 * last bytes of a piece that is not right.
 */
export async function* readPieces(
  openRange: OpenRange,
  start: number,
  pieces: readonly SegmentPiece[],
  damaged: (reason: string) => Error,
): AsyncGenerator<Uint8Array> {
  const end = pieces.reduce((sum, [sizeBytes]) => sum + sizeBytes, start);
  if (end === start) return;
  const body = await openRange(start, end);
  if (body === undefined) throw damaged('is missing');
  const rest = pieces.values();
  let piece = rest.next().value;
  let sum = new RunningSum();
  let read = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    read += chunk.length;
    for (let at = 0; at < chunk.length && piece !== undefined; ) {
      const [sizeBytes, sha256] = piece;
      const part = chunk.subarray(at, at + sizeBytes - sum.sizeBytes);
      at += part.length;
      sum.add(part);
      if (sum.sizeBytes < sizeBytes) continue;
      if (!sum.is(sha256)) throw damaged('has other bytes than those that were stored');
      piece = rest.next().value;
      sum = new RunningSum();
    }
    yield chunk;
  }
  if (read !== end - start) throw damaged(`has ${read} bytes where it should have ${end - start}`);
}

/** Compares bytes with a SHA-256 while they arrive. Another thread would need two copies of them, which take longer than the sum. */
export class RunningSum {
  sizeBytes = 0;
  readonly #hash = createHash('sha256');

  add(bytes: Uint8Array): void {
    this.sizeBytes += bytes.length;
    this.#hash.update(bytes);
  }

  /** True if the bytes have this sum. Call it once, after the last byte. */
  is(sha256: string): boolean {
    return this.#hash.digest('hex') === sha256;
  }
}
