import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import {
  constants,
  deflateRaw,
  deflateRawSync,
  inflateRaw,
  inflateRawSync,
  type InputType,
  type ZlibOptions,
} from 'node:zlib';

/*
 * This file makes and reads raw deflate data that ends with a full flush on a byte boundary and has no last block, so that pieces can be
 * concatenated.
 */

/**
 * Size of the pieces in which bytes are deflated, so that a stream can deflate several at once. It is fixed, so that the output depends only on the
 * bytes.
 */
export const pieceBytes = 256 * 1024;
/** Window of deflate: a piece may refer to the end of the previous one. */
export const windowBytes = 32 * 1024;

const deflate = promisify<InputType, ZlibOptions, Buffer>(deflateRaw);
const inflate = promisify<InputType, ZlibOptions, Buffer>(inflateRaw);

/**
 * Size up to which bytes are deflated and inflated on the event loop, which takes about 20 ms. Most chunks are smaller, and handing them to another
 * thread would take a fifth longer.
 */
const waitedBytes = 2 * 1024 * 1024;

/** Level 4 takes half to two thirds of the time of level 6, and 5 % more bytes. */
const deflateOptions = { level: 4, memLevel: 9, chunkSize: pieceBytes / 2, finishFlush: constants.Z_FULL_FLUSH };

/** Deflates a piece off the event loop. `before` are the bytes before it in the output. */
export function deflatePiece(piece: Uint8Array, before: Uint8Array): Promise<Buffer> {
  return deflate(piece, optionsOf(piece, before));
}

/** Deflates bytes in memory, with no bytes before them; large ones off the event loop. */
export async function deflateWhole(raw: Uint8Array): Promise<Buffer> {
  const pieces = Array.from({ length: Math.ceil(raw.length / pieceBytes) }, (_, number) => {
    const at = number * pieceBytes;
    return { piece: raw.subarray(at, at + pieceBytes), before: raw.subarray(Math.max(0, at - windowBytes), at) };
  });
  const deflated =
    raw.length <= waitedBytes
      ? pieces.map(({ piece, before }) => deflateRawSync(piece, optionsOf(piece, before)))
      : await Promise.all(pieces.map(({ piece, before }) => deflatePiece(piece, before)));
  return Buffer.concat(deflated);
}

/**
 * Compressed pictures, videos and fonts are stored unchanged: deflating them takes most of the time of a chunk of files, and saves some 2 % of their
 * bytes.
 */
const optionsOf = (piece: Uint8Array, before: Uint8Array): ZlibOptions =>
  isPacked(piece)
    ? { ...deflateOptions, level: constants.Z_NO_COMPRESSION, chunkSize: piece.length + storedOverhead }
    : { ...deflateOptions, dictionary: before.length === 0 ? undefined : before };

/** Upper bound of the bytes that stored blocks, each of up to 64 KB, add to a piece. */
const storedOverhead = 1_024;

/** Shorter pieces are always deflated, because they may repeat bytes before them. */
const leastStored = 64 * 1024;
const sampledBytes = 4_096;
/** Expected sum of the squares of the counts of all values among the sampled bytes, if each value is equally likely. */
const evenSum = sampledBytes ** 2 / 256 + sampledBytes;
/** Ratio to that sum. Photographs have up to 1.2, drawings in PNG files more than 1.5, texts more than 10. */
const mostUneven = 1.25;

/** True if the values of the bytes are distributed so evenly that deflating would save next to nothing. Takes some microseconds. */
function isPacked(piece: Uint8Array): boolean {
  if (piece.length < leastStored) return false;
  const step = Math.floor(piece.length / sampledBytes);
  const counts = new Uint16Array(256);
  for (let at = 0; at < sampledBytes; at += 1) {
    const value = piece[at * step] as number;
    counts[value] = (counts[value] as number) + 1;
  }
  return counts.reduce((sum, count) => sum + count ** 2, 0) < mostUneven * evenSum;
}

/** Maximum ratio of inflated to deflated bytes. */
const mostRatio = 1_100;

/**
 * Inflates the bytes; large data off the event loop. The data is untrusted: rejects unless it consists of whole pieces with exactly this many
 * bytes, ends at a byte boundary and has no last block, so that data appended to it is read correctly. `sha256`: of these deflated bytes, if the
 * caller has computed it.
 */
export async function inflatePieces(deflated: Uint8Array, rawLength: number, sha256?: string): Promise<Buffer> {
  if (rawLength > deflated.length * mostRatio) throw new Error('the deflate data is too short for its length');
  // Appends bytes that the author of the data cannot predict.
  const probe = sha256 === undefined ? hash('sha256', deflated, 'buffer') : Buffer.from(sha256, 'hex');
  const end = lastBlock(probe);
  const isSmall = rawLength <= waitedBytes;
  const input = isSmall ? inWaitedInput(deflated, end) : Buffer.concat([deflated, end]);
  const whole = rawLength + probe.length;
  const options = { maxOutputLength: whole, chunkSize: Math.max(constants.Z_MIN_CHUNK, whole + 1) };
  const bytes = isSmall ? inflateRawSync(input, options) : await inflate(input, options);
  // If the data ends inside a stored block, inflating reads the appended last block, header included, as content of that block.
  const isOpen = bytes.subarray(-end.length).equals(end);
  if (isOpen || !bytes.subarray(rawLength).equals(probe)) {
    throw new Error('the deflate data is not made of whole pieces');
  }
  return bytes.subarray(0, rawLength);
}

/** Input buffer for inflating on the event loop. One buffer serves thousands of texts, because each call ends before the next begins. */
let waitedInput: Buffer | undefined;
const waitedInputBytes = 256 * 1024;

/** Concatenates two byte arrays in a shared buffer. The result is valid until the next call. */
function inWaitedInput(first: Uint8Array, second: Uint8Array): Buffer {
  const bytes = first.length + second.length;
  if (bytes > waitedInputBytes) return Buffer.concat([first, second]);
  waitedInput ??= Buffer.allocUnsafe(waitedInputBytes);
  waitedInput.set(first);
  waitedInput.set(second, first.length);
  return waitedInput.subarray(0, bytes);
}

/**
 * The last block of deflate data, with these bytes (65,535 at most) stored. It begins at a byte boundary, so its three header bits are the low bits of
 * a byte of their own: final, stored; then length and its complement (RFC 1951, 3.2.4).
 */
export function lastBlock(bytes: Uint8Array): Buffer {
  const header = Buffer.from([1, 0, 0, 0, 0]);
  header.writeUInt16LE(bytes.length, 1);
  header.writeUInt16LE(0xffff - bytes.length, 3);
  return Buffer.concat([header, bytes]);
}
