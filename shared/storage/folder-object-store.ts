import { type FileHandle, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { type Clock, systemClock } from '#shared/runtime/time-and-ids.ts';
import { folderLinkUrl } from './download-link.ts';
import { filesUnder, folderUploads, removeFile, unlessGone } from './folder-files.ts';
import { describeObjectFile, objectFileEnd, type OpenObject, openObjectFile, readObjectFile } from './object-file.ts';
import {
  longestLinkSeconds,
  bytesOfParts,
  checkObjectKey,
  checkObjectPrefix,
  DamagedObject,
  objectDescription,
  type ObjectDescription,
  type ObjectEntry,
  type ObjectStore,
  ObjectStoreUnavailable,
  type PutOptions,
  type StreamOptions,
} from './object-store.ts';

export type FolderObjectStoreSettings = {
  /** Created if missing. Must be on one file system with hard links. */
  folder: string;
  /** Address of the gateway, which serves the links. It may have a path. */
  publicBaseUrl: string;
  /** Required only by `presign`. */
  signingKey?: string | undefined;
  clock?: Clock;
};

/** A suffix with a character that no key has, so the file of `a` and the folder of `a/b` have different names. */
const fileSuffix = '#';

/** Size up to which bytes are copied and written synchronously. */
const waitedBytes = 64 * 1024;

/** System error codes that are caused by the disk or its permissions, not by the call. */
const unusable = new Set('ENOSPC ENOTDIR EDQUOT EROFS EACCES EPERM EIO EMFILE ENFILE ESTALE'.split(' '));

const full = new Set(['ENOSPC', 'EDQUOT']);

const isFull = (error: unknown): boolean => full.has(errorCode(error) ?? '');

/** True for Node's error when it cannot make a folder and its parents on a read-only file system. */
const isNotMade = (error: unknown): boolean =>
  errorCode(error) === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'mkdir';

/** Advice to an operator about an error of the store, as a sentence. */
export const folderAdvice = (error: unknown): string =>
  error instanceof ObjectStoreUnavailable && isFull(error.cause)
    ? 'Make room on that disk: services continue automatically.'
    : 'Let the user of the services write to this folder, or set BINDERY_OBJECT_FOLDER to another one.';

/** Chunks are written together up to this size: each write is a turn of another thread, and the chunks of a bundle are small. */
const togetherBytes = 1024 * 1024;
const mostTogether = 256;

/** Writes chunks in their order. The next ones are gathered while the last ones are written: their producer may need as long as the disk. */
async function writeTogether(file: FileHandle, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  let writing = Promise.resolve();
  const write = async (): Promise<void> => {
    const [together, size] = [waiting, bytes];
    [waiting, bytes] = [[], 0];
    const { bytesWritten } = await file.writev(together);
    if (bytesWritten < size) await file.writeFile(Buffer.concat(together).subarray(bytesWritten));
  };
  try {
    for await (const chunk of chunks) {
      waiting.push(chunk);
      bytes += chunk.length;
      if (bytes < togetherBytes && waiting.length < mostTogether) continue;
      await writing;
      writing = write();
      writing.catch(() => undefined); // The next `await` throws this error.
    }
    await writing;
    if (bytes > 0) await write();
  } finally {
    // The caller closes the file.
    await writing.catch(() => undefined);
  }
}

/** The place of a range in an open object: from `start` up to `end` (not included). Closes the object, with a `RangeError`, if it has no such bytes. */
async function placeIn(
  key: string,
  object: Pick<OpenObject, 'sizeBytes' | 'close'>,
  range: StreamOptions['range'],
): Promise<{ start: number; end: number }> {
  const { start, end = object.sizeBytes - 1 } = range ?? { start: 0 };
  if (range !== undefined && (start < 0 || start > end || start >= object.sizeBytes)) {
    await object.close();
    throw new RangeError(`the object ${key} of ${object.sizeBytes} bytes has no bytes ${start} to ${end}`);
  }
  return { start, end: Math.min(end + 1, object.sizeBytes) };
}

/** Objects as files in a folder of this machine, for one host. */
export function folderObjectStore(settings: FolderObjectStoreSettings): ObjectStore {
  const clock = settings.clock ?? systemClock;
  const stored = resolve(settings.folder, 'stored');
  const uploads = folderUploads(resolve(settings.folder, 'uploads'));

  function pathOf(key: string): string {
    checkObjectKey(key);
    return join(stored, `${key}${fileSuffix}`);
  }

  async function onDisk<T>(signal: AbortSignal | undefined, action: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    try {
      return await action();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw diskProblem(error);
    }
  }

  function diskProblem(error: unknown): unknown {
    if (!unusable.has(errorCode(error) ?? '') && !isNotMade(error)) return error;
    const reason = isFull(error)
      ? `its disk is full (${messageOf(error)})`
      : isNotMade(error)
        ? `no folder can be made in it, so its file system may be read-only (${messageOf(error)})`
        : messageOf(error);
    return new ObjectStoreUnavailable(`the folder ${settings.folder} cannot be used: ${reason}`, { cause: error });
  }

  async function write(key: string, options: PutOptions, replace: boolean, body: Uint8Array): Promise<boolean> {
    const path = pathOf(key);
    const end = objectFileEnd(objectDescription(options));
    const writeAll = async (file: FileHandle): Promise<void> => {
      await file.writeFile(body, options);
      await file.writeFile(end);
    };
    const isSmall = body.length <= waitedBytes;
    return onDisk(options.signal, () => uploads.store(path, replace, isSmall ? Buffer.concat([body, end]) : writeAll));
  }

  /** `described` is called after the last byte. */
  async function writeStream(
    key: string,
    body: Readable,
    signal: AbortSignal | undefined,
    described: () => Promise<ObjectDescription>,
  ): Promise<void> {
    const path = pathOf(key);
    await onDisk(signal, () =>
      uploads.store(path, true, async (file) => {
        await pipeline(body, (source) => writeTogether(file, source), signal === undefined ? {} : { signal });
        await file.writeFile(objectFileEnd(await described()));
      }),
    );
  }

  /** The result of `read` on the object's file; undefined when there is none. */
  async function ofFile<T>(
    key: string,
    signal: AbortSignal | undefined,
    read: (path: string) => Promise<T>,
  ): Promise<T | undefined> {
    const path = pathOf(key);
    return onDisk(signal, () => unlessGone(read(path), undefined));
  }

  /** A damaged object is listed with the size of its file, because it must not hide the others. */
  async function entryOf(key: string, signal: AbortSignal | undefined): Promise<ObjectEntry | undefined> {
    try {
      const head = await store.head(key, signal === undefined ? {} : { signal });
      return head === undefined ? undefined : { key, sizeBytes: head.sizeBytes, modifiedAt: head.modifiedAt };
    } catch (error) {
      if (!(error instanceof DamagedObject)) throw error;
      const file = await onDisk(signal, () => unlessGone(stat(pathOf(key)), undefined));
      return file === undefined ? undefined : { key, sizeBytes: file.size, modifiedAt: file.mtime };
    }
  }

  const store: ObjectStore = {
    async put(key, body, options = {}) {
      await write(key, options, true, body);
    },

    async putIfAbsent(key, body, options = {}) {
      if ((await store.head(key, options)) !== undefined) return false;
      return write(key, options, false, body);
    },

    async putStream(key, body, options = {}) {
      const description = objectDescription(options);
      await writeStream(key, body, options.signal, async () => description);
    },

    async putParts(key, parts, { metadata, ...options }) {
      const body = Readable.from(bytesOfParts(parts), { objectMode: false });
      await writeStream(key, body, options.signal, async () =>
        objectDescription({ ...options, metadata: await metadata() }),
      );
    },

    copiesParts: false,

    get: (key, { signal, range } = {}) =>
      ofFile(key, signal, async (path) => {
        if (range === undefined) return readObjectFile(path);
        const object = await openObjectFile(path);
        const { start, end } = await placeIn(key, object, range);
        return object.bytes(start, end);
      }),

    async getStream(key, options = {}) {
      const object = await ofFile(key, options.signal, openObjectFile);
      if (object === undefined) return undefined;
      const { start, end } = await placeIn(key, object, options.range);
      const stream = object.stream(start, end);
      return options.signal === undefined ? stream : addAbortSignal(options.signal, stream);
    },

    async head(key, options = {}) {
      const object = await ofFile(key, options.signal, describeObjectFile);
      if (object === undefined) return undefined;
      const { sizeBytes, modifiedAt, metadata } = object;
      return { sizeBytes, modifiedAt, metadata };
    },

    async *list(prefix, options = {}) {
      checkObjectPrefix(prefix);
      try {
        for await (const file of filesUnder(stored, prefix)) {
          const key = file.slice(0, -fileSuffix.length);
          const entry = key.startsWith(prefix) ? await entryOf(key, options.signal) : undefined;
          // Undefined if the object was removed after the folder was read.
          if (entry !== undefined) yield entry;
        }
      } catch (error) {
        throw diskProblem(error);
      }
    },

    async remove(key, options = {}) {
      const path = pathOf(key);
      await onDisk(options.signal, () => removeFile(path, stored));
    },

    async presign(key, { lifetimeSeconds, fileName, contentType }) {
      checkObjectKey(key);
      if (settings.signingKey === undefined) throw new Error('links need the setting BINDERY_LINK_SIGNING_KEY');
      const lifetime = Math.min(lifetimeSeconds, longestLinkSeconds);
      const expires = Math.floor(clock.now().getTime() / 1000 + lifetime);
      const url = folderLinkUrl({ key, expires, fileName, contentType }, settings.publicBaseUrl, settings.signingKey);
      return { url, expiresAt: new Date(expires * 1000) };
    },

    sweepUnfinishedUploads: (olderThan) => onDisk(undefined, () => uploads.sweep(olderThan)),
    clockSkewMs: async () => 0,
    check: (options = {}) => onDisk(options.signal, () => uploads.check()),
    close: async () => {},
  };
  return store;
}
