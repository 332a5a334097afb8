import { promisify } from 'node:util';
import { constants, deflateRaw, deflateRawSync, inflateRawSync, type InputType, type ZlibOptions } from 'node:zlib';

/*
 * Raw deflate data that ends with a full flush on a byte boundary and has no last block: pieces of it can stand one behind the other.
 */

/** Bytes are deflated in pieces of this size, so that a stream can deflate several at once. It is fixed, so that the output depends on the bytes alone. */
export const pieceBytes = 256 * 1024;
/** How far deflate looks back: a piece may refer to the end of the one before. */
export const windowBytes = 32 * 1024;

const deflate = promisify<InputType, ZlibOptions, Buffer>(deflateRaw);

/** Level 4 takes half to two thirds of the time of level 6, and 5 % more bytes. */
const deflateOptions = { level: 4, memLevel: 9, chunkSize: pieceBytes / 2, finishFlush: constants.Z_FULL_FLUSH };

/** Off the event loop. `before`: what comes before it in the output. */
export function deflatePiece(piece: Uint8Array, before: Uint8Array): Promise<Buffer> {
  return deflate(piece, after(before));
}

/**
 * Deflates bytes that are in memory, with nothing before them, while the caller waits: for a process that has nothing else to do, where handing
 * the pieces to other threads costs a fifth more.
 */
export function deflateWhole(raw: Uint8Array): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < raw.length; at += pieceBytes) {
    const before = raw.subarray(Math.max(0, at - windowBytes), at);
    pieces.push(deflateRawSync(raw.subarray(at, at + pieceBytes), after(before)));
  }
  return Buffer.concat(pieces);
}

const after = (before: Uint8Array): ZlibOptions => ({
  ...deflateOptions,
  dictionary: before.length === 0 ? undefined : before,
});

/**
 * The bytes again, while the caller waits: for a chunk's texts, other threads cost as much before they begin. Throws when the data is no deflate
 * data, or that of more than `rawLength` bytes.
 */
export function inflateWhole(deflated: Uint8Array, rawLength: number): Buffer {
  if (rawLength === 0) return Buffer.alloc(0);
  // In one piece, with room for a byte more, so that it is neither copied nor given a second one.
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, rawLength + 1);
  return inflateRawSync(deflated, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: rawLength, chunkSize });
}
