import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRaw, type InputType, type ZlibOptions } from 'node:zlib';

/*
 * Raw deflate data that ends with a full flush on a byte boundary and has no last block: pieces of it can stand one behind the other. All of it is
 * made off the event loop.
 */

/** Bytes are deflated in pieces of this size, several at once. It is fixed, so that the output depends on the bytes alone. */
export const pieceBytes = 256 * 1024;
/** How far deflate looks back: a piece may refer to the end of the one before. */
export const windowBytes = 32 * 1024;

const deflate = promisify<InputType, ZlibOptions, Buffer>(deflateRaw);
const inflate = promisify<InputType, ZlibOptions, Buffer>(inflateRaw);

/** Level 4 takes half to two thirds of the time of level 6, and 5 % more bytes. */
const deflateOptions = { level: 4, memLevel: 9, chunkSize: pieceBytes / 2, finishFlush: constants.Z_FULL_FLUSH };

/** `before`: what comes before it in the output. */
export function deflatePiece(piece: Uint8Array, before: Uint8Array): Promise<Buffer> {
  const dictionary = before.length === 0 ? undefined : before;
  return deflate(piece, { ...deflateOptions, dictionary });
}

/** Deflates bytes that are in memory, with nothing before them. */
export async function deflateWhole(raw: Uint8Array): Promise<Buffer> {
  const pieces: Promise<Buffer>[] = [];
  for (let at = 0; at < raw.length; at += pieceBytes) {
    pieces.push(deflatePiece(raw.subarray(at, at + pieceBytes), raw.subarray(Math.max(0, at - windowBytes), at)));
  }
  return Buffer.concat(await Promise.all(pieces));
}

/** The bytes again. Rejects when the data is no deflate data, or that of more than `rawLength` bytes. */
export async function inflateWhole(deflated: Uint8Array, rawLength: number): Promise<Buffer> {
  if (rawLength === 0) return Buffer.alloc(0);
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, Math.min(rawLength, 4 * pieceBytes));
  return inflate(deflated, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: rawLength, chunkSize });
}
