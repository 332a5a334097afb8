import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, fsync, openSync, readFile, readSync, writeFileSync } from 'node:fs';
import {
  type FileHandle,
  link,
  mkdir,
  open,
  opendir,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { errorCode } from '#shared/runtime/failures.ts';
import { DamagedObject, type ObjectDescription, objectDescription } from './object-store.ts';

/*
 * Work on a project reads and writes thousands of files of a few kilobytes. The event loop waits for these: to hand a call to another thread and take it
 * back costs ten times as much. After some milliseconds whatever else is to be done has its turn.
 */

const turnMs = 5;
let turnBegan = 0;
/** One for all who wait: if each had its own, each would go on for a whole turn before anything else is done. */
let waitedFor: Promise<void> | undefined;

/** To be asked again after each wait: of many who wait for a turn, those that it is too short for wait for the next one. */
const isTurnOver = (): boolean => performance.now() - turnBegan >= turnMs;

const nextTurn = (): Promise<void> => (waitedFor ??= begunTurn());

async function begunTurn(): Promise<void> {
  await setImmediate();
  waitedFor = undefined;
  turnBegan = performance.now();
}

/** How often the target's folder is made again when another writer prunes it. */
const moveAttempts = 10;

/**
 * Files on their way into the folder store. Each is written and synced under a name of its own in `uploads`, then moved in one step to
 * where readers look. A writer that dies leaves its file in `uploads` only.
 */
export function folderUploads(folder: string) {
  return {
    /** Writes a file of these bytes, which are few, or with `write`, then moves it to `target`; false if `target` exists and `replace` is off. */
    async store(
      target: string,
      replace: boolean,
      write: Uint8Array | ((file: FileHandle) => Promise<void>),
    ): Promise<boolean> {
      const upload = join(folder, randomUUID());
      let isMoved = false;
      try {
        await inFolder(folder, () =>
          write instanceof Uint8Array ? writeNow(upload, write) : writeWith(upload, write),
        );
        isMoved = await moveTo(upload, target, replace);
        return isMoved;
      } finally {
        // A rename leaves nothing.
        if (!(isMoved && replace)) await rm(upload, { force: true });
      }
    },
    /** Removes files that were last written before `olderThan`, and says how many. */
    async sweep(olderThan: Date): Promise<number> {
      let swept = 0;
      for (const name of await unlessGone(readdir(folder), [])) {
        const path = join(folder, name);
        const stats = await unlessGone(stat(path), undefined);
        if (stats === undefined || stats.mtime >= olderThan) continue;
        await rm(path, { force: true });
        swept++;
      }
      return swept;
    },
    /** Rejects when files cannot be written. */
    async check(): Promise<void> {
      await mkdir(folder, { recursive: true });
      const probe = join(folder, randomUUID());
      try {
        await writeFile(probe, 'x', { flag: 'wx' });
      } finally {
        await rm(probe, { force: true });
      }
    },
  };
}

/** Another thread waits for the disk alone. */
async function writeNow(path: string, bytes: Uint8Array): Promise<void> {
  while (isTurnOver()) await nextTurn();
  const file = openSync(path, 'wx');
  try {
    writeFileSync(file, bytes);
    await syncFile(file);
  } finally {
    closeSync(file);
  }
}

const syncFile = promisify(fsync);

async function writeWith(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What `making` gives, which makes something in `folder`. The folder is made when it is not there. */
async function inFolder<T>(folder: string, making: () => Promise<T>): Promise<T> {
  try {
    return await making();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    await mkdir(folder, { recursive: true });
    return making();
  }
}

/** What `reading` gives, or `otherwise` when the file or folder is not there (or no longer). */
export async function unlessGone<T, O>(reading: Promise<T>, otherwise: O): Promise<T | O> {
  try {
    return await reading;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return otherwise;
    throw error;
  }
}

async function moveTo(upload: string, target: string, replace: boolean): Promise<boolean> {
  const parent = dirname(target);
  let top = parent;
  for (let attempt = 1; ; attempt++) {
    try {
      // A hard link fails if the name is taken, a rename replaces it: both in one step of the file system.
      await (replace ? rename(upload, target) : link(upload, target));
      await syncFolders(parent, top);
      return true;
    } catch (error) {
      if (errorCode(error) === 'EEXIST' && !replace) return false;
      // The first one, or another writer's removal pruned the empty folder.
      if (errorCode(error) !== 'ENOENT' || attempt === moveAttempts) throw error;
      // Whoever made the folder, its own name must be on disk, too. What was made above it may be pruned at once.
      const above = dirname((await unlessGone(mkdir(parent, { recursive: true }), undefined)) ?? parent);
      if (above.length < top.length) top = above;
    }
  }
}

/** A name is on disk once its folder is synced: from `folder` up to `top`, all of which got a new entry. */
async function syncFolders(folder: string, top: string): Promise<void> {
  if (process.platform === 'win32') return; // Folders cannot be opened there.
  for (let current = folder; ; current = dirname(current)) {
    await syncFolder(current);
    if (current === top) return;
  }
}

/** The sync of a folder that has not begun yet, by path: one is enough for all names that are there when it begins. */
const nextSyncs = new Map<string, Promise<void>>();
const runningSyncs = new Map<string, Promise<void>>();

function syncFolder(folder: string): Promise<void> {
  const waiting = nextSyncs.get(folder);
  if (waiting !== undefined) return waiting;
  const next = (async () => {
    await runningSyncs.get(folder)?.catch(() => undefined);
    nextSyncs.delete(folder);
    const running = syncNow(folder);
    runningSyncs.set(folder, running);
    try {
      await running;
    } finally {
      if (runningSyncs.get(folder) === running) runningSyncs.delete(folder);
    }
  })();
  nextSyncs.set(folder, next);
  return next;
}

async function syncNow(folder: string): Promise<void> {
  const handle = await unlessGone(open(folder, 'r'), undefined); // Pruned: then the object is gone as well.
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

/** Files below `top` whose path, relative and with `/`, starts with `prefix`. Folders that cannot hold such a file are not read. */
export async function* filesUnder(top: string, prefix: string, path = ''): AsyncGenerator<string> {
  for await (const entry of await unlessGone(opendir(join(top, path)), [])) {
    const found = `${path}${entry.name}`;
    if (entry.isFile() && found.startsWith(prefix)) yield found;
    if (entry.isDirectory() && (found.startsWith(prefix) || prefix.startsWith(`${found}/`))) {
      yield* filesUnder(top, prefix, `${found}/`);
    }
  }
}

/** Removes a file, if it is there, and the folders above it that are then empty, up to `top`. */
export async function removeFile(path: string, top: string): Promise<void> {
  await rm(path, { force: true });
  for (let folder = dirname(path); folder !== top; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') continue;
      return; // Not empty: the codes for that differ between systems, and a folder that stays does no harm.
    }
  }
}

/**
 * An object on disk is one file: its bytes, its description as JSON, the length of that (4 bytes), and a mark. With one file, one rename
 * replaces bytes and description together. A second file could be left over from another version after a crash.
 */
const endMark = Buffer.from('BINDERY1');
const footerBytes = 4 + endMark.length;
const maxDescriptionBytes = 4000;

/** What follows an object's bytes in its file. */
export function objectFileEnd(description: ObjectDescription): Uint8Array {
  const json = Buffer.from(JSON.stringify(description));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length, endMark]);
}

/** Larger files are read by other threads. */
const waitedBytes = 256 * 1024;

/** What `read` makes of an open file. */
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

/** The one of `node:fs/promises` takes twice the time. */
const readWhole = promisify(readFile);

export type StoredObject = ObjectDescription & { sizeBytes: number; modifiedAt: Date };

/** What is known of an object without reading its bytes. */
export function describeObjectFile(path: string): Promise<StoredObject> {
  return fromFile(path, (file, size, modifiedAt) => {
    const { description, bytes } = endIn(path, readNow(file, endOf(size), size, fileEnd));
    return { ...description, sizeBytes: size - bytes, modifiedAt };
  });
}

/** For one read at a time. Thousands of objects are only looked at, and buffers of their own would be half of the work. */
const fileEnd = Buffer.alloc(footerBytes + maxDescriptionBytes);

/** Where the last bytes of a file of `size` bytes begin, which have its description. */
const endOf = (size: number): number => Math.max(0, size - footerBytes - maxDescriptionBytes);

/** The bytes of an object. */
export async function readObjectFile(path: string): Promise<Buffer> {
  const small = await fromFile(path, (file, size) => (size > waitedBytes ? undefined : readNow(file, 0, size)));
  const bytes = small ?? (await readWhole(path));
  return bytes.subarray(0, bytes.length - endIn(path, bytes).bytes);
}

/** `stream` gives the bytes from `start` up to `end` (not included), once; who does not ask for them closes the object. */
export type OpenObject = StoredObject & {
  stream(start: number, end: number): Readable;
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
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** What follows an object's bytes, from the last bytes of its file, and its length. Throws `DamagedObject` when that is not there. */
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

/** The same while the event loop waits. */
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

/** Closes the file at its end or when destroyed. */
function streamOf(handle: FileHandle, start: number, end: number): Readable {
  async function* bytes(): AsyncGenerator<Buffer> {
    for (let at = start; at < end; at += chunkBytes) yield await readFully(handle, at, Math.min(at + chunkBytes, end));
  }
  const stream = Readable.from(bytes(), { objectMode: false, highWaterMark: chunkBytes });
  return stream.once('close', () => void handle.close().catch(() => {}));
}
