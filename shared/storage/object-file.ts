import { closeSync, fstatSync, openSync, readFile, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { isTurnOver, nextTurn } from './file-turns.ts';
import { DamagedObject, type ObjectDescription, objectDescription } from './object-store.ts';

/**
 * An object on disk is one file: its bytes, its description as JSON, the length of that (4 bytes), and a mark. With one file, one rename
 * replaces bytes and description together. A second file could be left over from another version after a crash.
 */
const endMark = Buffer.from('BINDERY1');
const footerBytes = 4 + endMark.length;
const maxDescriptionBytes = 4000;

/** The part of an object's file after its bytes. */
export function objectFileEnd(description: ObjectDescription): Uint8Array {
  const json = Buffer.from(JSON.stringify(description));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length, endMark]);
}

/** Size up to which files are read synchronously. Larger ones are read by other threads. */
const waitedBytes = 256 * 1024;

/** The result of `read` on an open file. */
async function fromFile<T>(path: string, read: (file: number, size: number, modifiedAt: Date) => T): Promise<T> {
  while (isTurnOver()) await nextTurn();
  const file = openSync(path, 'r');
  try {
    const { size, mtime } = fstatSync(file);
    return read(file, size, mtime);
  } finally {
    closeSync(file);
  }
}

/** The variant of `node:fs/promises` takes twice as long. */
const readWhole = promisify(readFile);

export type StoredObject = ObjectDescription & { sizeBytes: number; modifiedAt: Date };

/** The description of an object, without reading its bytes. */
export function describeObjectFile(path: string): Promise<StoredObject> {
  return fromFile(path, (file, size, modifiedAt) => {
    const { description, bytes } = endIn(path, readNow(file, endOf(size), size, fileEnd));
    return { ...description, sizeBytes: size - bytes, modifiedAt };
  });
}

/**
 * Buffer shared by all reads, which are synchronous. Often thousands of objects are only described, and separate buffers would be half of
 * the work.
 */
const fileEnd = Buffer.alloc(footerBytes + maxDescriptionBytes);

/** Start of the last bytes of a file of `size` bytes, which contain its description. */
const endOf = (size: number): number => Math.max(0, size - footerBytes - maxDescriptionBytes);

/** The bytes of an object. */
export async function readObjectFile(path: string): Promise<Buffer> {
  const small = await fromFile(path, (file, size) => (size > waitedBytes ? undefined : readNow(file, 0, size)));
  const bytes = small ?? (await readWhole(path));
  return bytes.subarray(0, bytes.length - endIn(path, bytes).bytes);
}

/**
 * `stream` and `bytes` return the bytes from `start` up to `end` (not included), and only one of the two may be called, once. A caller that does not
 * need them has to close the object.
 */
export type OpenObject = StoredObject & {
  stream(start: number, end: number): Readable;
  bytes(start: number, end: number): Promise<Uint8Array>;
  close(): Promise<void>;
};

/** Opens an object's file. It can be read to its end even if the object is replaced or removed. */
export async function openObjectFile(path: string): Promise<OpenObject> {
  const small = await fromFile(path, (file, size, modifiedAt) =>
    size > waitedBytes ? undefined : { modifiedAt, file: readNow(file, 0, size) },
  );
  if (small === undefined) return openLargeFile(path);
  const { modifiedAt, file } = small;
  const { description, bytes } = endIn(path, file);
  return {
    ...{ ...description, sizeBytes: file.length - bytes, modifiedAt },
    stream: (start, end) => Readable.from(end > start ? [file.subarray(start, end)] : [], { objectMode: false }),
    bytes: async (start, end) => file.subarray(start, end),
    close: async () => {},
  };
}

async function openLargeFile(path: string): Promise<OpenObject> {
  const handle = await open(path, 'r');
  try {
    const { size, mtime } = await handle.stat();
    const { description, bytes } = endIn(path, await readFully(handle, endOf(size), size));
    return {
      ...{ ...description, sizeBytes: size - bytes, modifiedAt: mtime },
      stream: (start, end) => streamOf(handle, start, end),
      async bytes(start, end) {
        try {
          return await readFully(handle, start, end);
        } finally {
          await handle.close();
        }
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The description and number of bytes of an object, from the last bytes of its file. Throws `DamagedObject` when they are missing. */
function endIn(path: string, last: Buffer): { description: ObjectDescription; bytes: number } {
  const mark = last.length - endMark.length;
  if (last.length < footerBytes || !last.subarray(mark).equals(endMark)) throw notAnObject(path);
  const jsonLength = last.readUInt32BE(mark - 4);
  if (jsonLength > mark - 4) throw notAnObject(path);
  const description = descriptionIn(path, last.toString('utf8', mark - 4 - jsonLength, mark - 4));
  return { description, bytes: footerBytes + jsonLength };
}

/** Bytes from `from` up to `to` (not included); an error if the file has fewer. */
async function readFully(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(to - from);
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, from + filled);
    if (bytesRead === 0) throw endsTooEarly(bytes.length - filled);
    filled += bytesRead;
  }
  return bytes;
}

/** Reads bytes like `readFully`, but synchronously. */
function readNow(file: number, from: number, to: number, into = Buffer.allocUnsafe(to - from)): Buffer {
  const bytes = into.subarray(0, to - from);
  for (let filled = 0; filled < bytes.length; ) {
    const bytesRead = readSync(file, bytes, filled, bytes.length - filled, from + filled);
    if (bytesRead === 0) throw endsTooEarly(bytes.length - filled);
    filled += bytesRead;
  }
  return bytes;
}

const endsTooEarly = (missing: number): DamagedObject =>
  new DamagedObject(`the file of an object ends ${missing} bytes too early`);

function descriptionIn(path: string, json: string): ObjectDescription {
  try {
    return objectDescription(JSON.parse(json));
  } catch {
    throw notAnObject(path);
  }
}

function notAnObject(path: string): DamagedObject {
  return new DamagedObject(`${path} was not written by this object store, or was cut: remove it`);
}

const chunkBytes = 256 * 1024;

/** A stream of a part of the file. The file is closed at the end of the stream or when it is destroyed. */
function streamOf(handle: FileHandle, start: number, end: number): Readable {
  async function* bytes(): AsyncGenerator<Buffer> {
    for (let at = start; at < end; at += chunkBytes) yield await readFully(handle, at, Math.min(at + chunkBytes, end));
  }
  const stream = Readable.from(bytes(), { objectMode: false, highWaterMark: chunkBytes });
  return stream.once('close', () => void handle.close().catch(() => {}));
}
