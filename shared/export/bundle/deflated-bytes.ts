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
 * Raw deflate data that ends with a full flush on a byte boundary and has no last block: pieces of it can stand one behind the other.
 */

/** Bytes are deflated in pieces of this size, so that a stream can deflate several at once. It is fixed, so that the output depends on the bytes alone. */
export const pieceBytes = 256 * 1024;
/** How far deflate looks back: a piece may refer to the end of the one before. */
export const windowBytes = 32 * 1024;

const deflate = promisify<InputType, ZlibOptions, Buffer>(deflateRaw);
const inflate = promisify<InputType, ZlibOptions, Buffer>(inflateRaw);

/** What a chunk usually has, and the event loop can wait for: some 20 ms. Handing it to other threads costs more than a fifth of that. */
const waitedBytes = 2 * 1024 * 1024;

/** Level 4 takes half to two thirds of the time of level 6, and 5 % more bytes. */
const deflateOptions = { level: 4, memLevel: 9, chunkSize: pieceBytes / 2, finishFlush: constants.Z_FULL_FLUSH };

/** Off the event loop. `before`: what comes before it in the output. */
export function deflatePiece(piece: Uint8Array, before: Uint8Array): Promise<Buffer> {
  return deflate(piece, after(before));
}

/** Deflates bytes that are in memory, with nothing before them; many of them off the event loop. */
export async function deflateWhole(raw: Uint8Array): Promise<Buffer> {
  const pieces = Array.from({ length: Math.ceil(raw.length / pieceBytes) }, (_, number) => {
    const at = number * pieceBytes;
    return { piece: raw.subarray(at, at + pieceBytes), before: raw.subarray(Math.max(0, at - windowBytes), at) };
  });
  const deflated =
    raw.length <= waitedBytes
      ? pieces.map(({ piece, before }) => deflateRawSync(piece, after(before)))
      : await Promise.all(pieces.map(({ piece, before }) => deflatePiece(piece, before)));
  return Buffer.concat(deflated);
}

const after = (before: Uint8Array): ZlibOptions => ({
  ...deflateOptions,
  dictionary: before.length === 0 ? undefined : before,
});

/** The bytes again; many of them off the event loop. Rejects when the data is no deflate data, or that of more than `rawLength` bytes. */
export async function inflateWhole(deflated: Uint8Array, rawLength: number): Promise<Buffer> {
  if (rawLength === 0) return Buffer.alloc(0);
  // In one piece, with room for a byte more, so that it is neither copied nor given a second one.
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, rawLength + 1);
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: rawLength, chunkSize };
  return rawLength <= waitedBytes ? inflateRawSync(deflated, options) : inflate(deflated, options);
}
