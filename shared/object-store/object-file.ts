import { type FileHandle, open } from 'node:fs/promises';
import { type ObjectDescription, objectDescription } from './object-description.ts';

/**
 * An object on disk is one file: its bytes, then its description as JSON, the length of that (4 bytes), and a mark. One file, so that one
 * rename replaces bytes and description together; a second file beside it could be left over from another version after a crash.
 */
const MARK = Buffer.from('BINDERY1');
const FOOTER_BYTES = 4 + MARK.length;
const MAX_DESCRIPTION_BYTES = 4000;

/** What follows an object's bytes in its file. */
export function objectFileEnd(description: ObjectDescription): Uint8Array {
  const json = Buffer.from(JSON.stringify(description));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length, MARK]);
}

export type OpenObject = ObjectDescription & { handle: FileHandle; sizeBytes: number; modifiedAt: Date };

/** Opens an object's file; the caller closes `handle`. What is opened stays whole even if the object is replaced or removed meanwhile. */
export async function openObjectFile(path: string): Promise<OpenObject> {
  const handle = await open(path, 'r');
  try {
    const { size, mtime } = await handle.stat();
    const end = await readFully(handle, Math.max(0, size - FOOTER_BYTES - MAX_DESCRIPTION_BYTES), size);
    const mark = end.length - MARK.length;
    if (end.length < FOOTER_BYTES || !end.subarray(mark).equals(MARK)) throw notAnObject(path);
    const jsonLength = end.readUInt32BE(mark - 4);
    if (jsonLength > mark - 4) throw notAnObject(path);
    const stored = JSON.parse(end.toString('utf8', mark - 4 - jsonLength, mark - 4));
    return { ...objectDescription(stored), handle, sizeBytes: size - FOOTER_BYTES - jsonLength, modifiedAt: mtime };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Bytes from `from` up to `to` (not included); an error if the file has fewer. */
export async function readFully(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(to - from);
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, from + filled);
    if (bytesRead === 0) throw new Error(`the file of an object ends ${bytes.length - filled} bytes too early`);
    filled += bytesRead;
  }
  return bytes;
}

function notAnObject(path: string): Error {
  return new Error(`${path} was not written by this object store, or was cut: remove it`);
}
