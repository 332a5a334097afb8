import { createHash, type Hash, subtle } from 'node:crypto';
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
 * The bytes of pieces that follow one another in an object from `start` on. Each is checked while the next one is read. The stream fails with the
 * error that `damaged` makes, at the latest after the last piece.
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
  let sum = new ConcurrentSum();
  let isRight = Promise.resolve(true);
  const requireRight = async (): Promise<void> => {
    if (!(await isRight)) throw damaged('has other bytes than those that were stored');
  };
  let read = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    read += chunk.length;
    for (let at = 0; at < chunk.length && piece !== undefined; ) {
      const [sizeBytes, sha256] = piece;
      const part = chunk.subarray(at, at + sizeBytes - sum.sizeBytes);
      at += part.length;
      sum.add(part);
      if (sum.sizeBytes < sizeBytes) continue;
      await requireRight();
      isRight = sum.is(sha256);
      piece = rest.next().value;
      sum = new ConcurrentSum();
    }
    yield chunk;
  }
  await requireRight();
  if (read !== end - start) throw damaged(`has ${read} bytes where it should have ${end - start}`);
}

/** Limit of the bytes that are kept until their SHA-256 is computed in another thread. */
const mostKeptBytes = 4 * 1024 * 1024;

/** Compares bytes with a SHA-256. Another thread computes it at the end; beyond `mostKeptBytes` the event loop computes it while the bytes arrive. */
export class ConcurrentSum {
  sizeBytes = 0;
  readonly #kept: Uint8Array[] = [];
  #long: Hash | undefined;

  add(bytes: Uint8Array): void {
    this.sizeBytes += bytes.length;
    this.#kept.push(bytes);
    if (this.#long === undefined && this.sizeBytes <= mostKeptBytes) return;
    this.#long ??= createHash('sha256');
    for (const piece of this.#kept.splice(0)) this.#long.update(piece);
  }

  /** True if the bytes have this sum. Call it once, after the last byte. */
  async is(sha256: string): Promise<boolean> {
    if (this.#long !== undefined) return this.#long.digest('hex') === sha256;
    return Buffer.from(await subtle.digest('SHA-256', Buffer.concat(this.#kept))).toString('hex') === sha256;
  }
}
