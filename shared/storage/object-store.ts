import type { Readable } from 'node:stream';
import { type Clock, hourMs } from '#shared/runtime/time-and-ids.ts';
import { Unavailable } from '#shared/runtime/failures.ts';

/**
 * Keeps what is too large for the log: contents, segments, bundles. Keys are `/`-separated paths of at most 900 bytes. Their segments have
 * the characters `[A-Za-z0-9._~!+@=,() -]` and at most 200 bytes, and are not empty, `.` or `..`. No key continues another one (`a` and
 * `a/b`): S3 gateways over file systems refuse that.
 *
 * What an adapter guarantees:
 * - A put is all or nothing. A reader sees the old object or the whole new one, never a part; a writer that dies leaves nothing under the key.
 * - Read after write: once a put has answered, every get, head and list shows it.
 * - Every call ends: within `signal`, or with `ObjectStoreUnavailable` when the store does not answer.
 * - Nothing is overwritten by `putIfAbsent`.
 * - What was damaged where it is kept, and is noticed by the store, makes a read fail with `DamagedObject`.
 */
export type ObjectStore = {
  put(key: string, body: Uint8Array, options?: PutOptions): Promise<void>;
  /** False when the key already exists; the stored object is then unchanged. */
  putIfAbsent(key: string, body: Uint8Array, options?: PutOptions): Promise<boolean>;
  /** Uploads without holding the body in memory. If the stream fails or `signal` aborts, the key is as it was before. */
  putStream(key: string, body: Readable, options?: PutOptions): Promise<void>;
  /** Undefined when there is no such object. */
  get(key: string, options?: ReadOptions): Promise<Uint8Array | undefined>;
  /** Undefined when there is no such object. An object that is cut while being read makes the stream fail. */
  getStream(key: string, options?: StreamOptions): Promise<Readable | undefined>;
  head(key: string, options?: ReadOptions): Promise<ObjectHead | undefined>;
  /** Keys in no promised order. */
  list(prefix: string, options?: ReadOptions): AsyncIterable<ObjectEntry>;
  /** No error when there is no such object. */
  remove(key: string, options?: ReadOptions): Promise<void>;
  /** A link with which anyone may read the object until it expires. Its lifetime is at most `maxLinkLifetimeSeconds`. */
  presign(key: string, options: PresignOptions): Promise<PresignedLink>;
  /** How far the store's clock is ahead of ours, in milliseconds; 0 for stores on this machine. */
  clockSkewMs(): Promise<number>;
  /** Removes uploads that began before `olderThan` (by the store's clock) and were never finished, and says how many. */
  sweepUnfinishedUploads(olderThan: Date): Promise<number>;
  /** Rejects with the reason when the store cannot be used. */
  check(options?: ReadOptions): Promise<void>;
  close(): Promise<void>;
};

export type PutOptions = {
  contentType?: string;
  /** Lower-case keys, ASCII values; comes back from `head` and, over S3, as `x-amz-meta-*` on download. */
  metadata?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
};

export type ReadOptions = { signal?: AbortSignal };

/** What is stored under the key is no whole object: it was cut, or written by something else. The message says where it is. */
export class DamagedObject extends Error {
  override name = 'DamagedObject';
}

/** What is read; undefined as well for a damaged object. For what can be made again: then it is as if it were not there. */
export async function unlessDamaged<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof DamagedObject) return undefined;
    throw error;
  }
}

/** Bytes `start` to `end`, both included, from 0; without `end` to the last one. A start behind the last byte is a `RangeError`. */
export type StreamOptions = ReadOptions & { range?: { start: number; end?: number } };

export type ObjectHead = { sizeBytes: number; modifiedAt: Date; metadata: Readonly<Record<string, string>> };

export type ObjectEntry = { key: string; sizeBytes: number; modifiedAt: Date };

type PresignOptions = {
  lifetimeSeconds: number;
  /** Name the browser saves the download under. */
  fileName: string;
  contentType: string;
};

type PresignedLink = { url: string; expiresAt: Date };

/** The store did not answer in time or refused the connection. Nothing was half done; try again later. */
export class ObjectStoreUnavailable extends Unavailable {
  override name = 'ObjectStoreUnavailable';
}

/**
 * Ends a call to the store, as `signal`, when it takes longer than `withinMs`: with `ObjectStoreUnavailable`, so that whoever asked tries again
 * later. The `TimeoutError` of `AbortSignal.timeout` would count as a fault of ours.
 */
export function storeWithin(withinMs: number): AbortSignal {
  const late = new AbortController();
  const reason = () => new ObjectStoreUnavailable(`the object store did not answer within ${withinMs} ms`);
  setTimeout(() => late.abort(reason()), withinMs).unref();
  return late.signal;
}

const recentMs = 12 * hourMs;

/**
 * Was the object stored in the last 12 hours? Only then may a writer leave it as it is. Until the log says that it is needed, garbage
 * collection may remove it, and that keeps what is younger than 2 days.
 */
export function isStoredRecently(head: Pick<ObjectHead, 'modifiedAt'> | undefined, clock: Clock): boolean {
  return head !== undefined && clock.now().getTime() - head.modifiedAt.getTime() < recentMs;
}

const maxKeyBytes = 900;
/** File systems allow 255 bytes, and both adapters of folders need a few of their own. */
const maxSegmentBytes = 200;

/** Throws when `key` breaks the rules of `ObjectStore`. Only these rules keep the keys of a folder store inside its folder. */
export function checkObjectKey(key: string): void {
  const problem = keyProblem(key);
  if (problem !== undefined) throw new Error(`the object key ${JSON.stringify(key)} ${problem}`);
}

/** Throws as `checkObjectKey`. A prefix may end anywhere in a key, also inside a segment; '' matches every key. */
export function checkObjectPrefix(prefix: string): void {
  // The end of the prefix only filters names: complete it to a whole segment.
  checkObjectKey(`${prefix}x`);
}

function keyProblem(key: string): string | undefined {
  if (key.length > maxKeyBytes) return `is longer than ${maxKeyBytes} bytes`;
  for (const segment of key.split('/')) {
    if (segment === '') return 'has an empty segment';
    if (segment === '.' || segment === '..') return `has the segment "${segment}"`;
    if (segment.length > maxSegmentBytes) return `has a segment longer than ${maxSegmentBytes} bytes`;
    if (!/^[A-Za-z0-9._~!+@=,() -]+$/.test(segment))
      return 'has a character other than A-Z a-z 0-9 . _ ~ ! + @ = , ( ) - and space';
  }
  return undefined;
}

/** What is stored with an object's bytes. */
export type ObjectDescription = { contentType?: string; metadata: Readonly<Record<string, string>> };

/** S3 allows 2 KB. */
const maxMetadataBytes = 2000;

/** Checks what a writer gives with an object; the rules are the same for every store. The error names the wrong entry. */
export function objectDescription({ contentType, metadata = {} }: PutOptions): ObjectDescription {
  for (const [name, value] of Object.entries(metadata)) {
    if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) throw new Error(`metadata "${name}": a name has only a-z, 0-9 and -`);
    // Stores trim spaces at both ends, so such a value would not come back as it was.
    if (!/^[\x20-\x7e]*$/.test(value) || value.trim() !== value) {
      throw new Error(`metadata "${name}": a value has only printable ASCII, without spaces around it`);
    }
  }
  if (contentType !== undefined && !/^[\x21-\x7e][\x20-\x7e]*$/.test(contentType)) {
    throw new Error(`the content type ${JSON.stringify(contentType)} is not printable ASCII`);
  }
  const description = contentType === undefined ? { metadata } : { contentType, metadata };
  if (JSON.stringify(description).length > maxMetadataBytes)
    throw new Error(`metadata is longer than ${maxMetadataBytes} bytes`);
  return description;
}
