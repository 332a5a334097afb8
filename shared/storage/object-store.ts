import type { Readable } from 'node:stream';
import { type Clock, dayMs, hourMs } from '#shared/runtime/time-and-ids.ts';
import { Unavailable } from '#shared/runtime/failures.ts';

/**
 * Stores objects that are too large for the log: contents, segments, bundles. Keys are `/`-separated paths of at most 900 bytes. Their
 * segments have the characters `[A-Za-z0-9._~!+@=,() -]` and at most 200 bytes, and are not empty, `.` or `..`. A key must not continue another
 * one (`a` and `a/b`): S3 gateways over file systems refuse that.
 *
 * Adapters guarantee:
 * - A put is atomic. A reader sees the old object or the whole new one, never a part; a writer that dies leaves nothing under the key.
 * - Read after write: once a put has resolved, every get, head and list shows it.
 * - Every call ends: within `signal`, or with `ObjectStoreUnavailable` when the store does not answer.
 * - `putIfAbsent` overwrites nothing.
 * - Reading an object whose damage the store detects fails with `DamagedObject`.
 */
export type ObjectStore = {
  put(key: string, body: Uint8Array, options?: PutOptions): Promise<void>;
  /** Stores an object if the key does not exist. Returns false when it exists, and then leaves the stored object unchanged. */
  putIfAbsent(key: string, body: Uint8Array, options?: PutOptions): Promise<boolean>;
  /** Uploads without holding the body in memory. If the stream fails or `signal` aborts, the key is unchanged. */
  putStream(key: string, body: Readable, options?: PutOptions): Promise<void>;
  /**
   * Stores an object that is mostly the same as another one: stores that can copy bytes themselves copy those parts, and the others are read and
   * sent. Otherwise it works like `putStream`. Rejects with `NotCopied` if the other object cannot be copied; nothing is stored then.
   */
  putParts(key: string, parts: ObjectParts, options: PartsOptions): Promise<void>;
  /** True if `putParts` copies parts without reading them. */
  copiesParts: boolean;
  /** Returns the bytes, or those of a range, as a copy that belongs to the caller. Undefined when there is no such object. */
  get(key: string, options?: StreamOptions): Promise<Uint8Array | undefined>;
  /** Streams an object, or a range of it; undefined when there is no such object. The stream fails when the object is cut while it is read. */
  getStream(key: string, options?: StreamOptions): Promise<Readable | undefined>;
  /** Size, time and metadata of an object; undefined when there is no such object. */
  head(key: string, options?: ReadOptions): Promise<ObjectHead | undefined>;
  /** Lists the objects whose keys begin with `prefix`, in no particular order. */
  list(prefix: string, options?: ReadOptions): AsyncIterable<ObjectEntry>;
  /** Removes an object. It succeeds also when there is no such object. */
  remove(key: string, options?: ReadOptions): Promise<void>;
  /**
   * A link with which anyone may read the object until it expires, by our clock, however far that of the store is off. Its lifetime is at most
   * `longestLinkSeconds`. The store's time is taken from its earlier answers.
   */
  presign(key: string, options: PresignOptions): Promise<PresignedLink>;
  /** Milliseconds by which the store's clock is ahead of ours; 0 for stores on this machine. */
  clockSkewMs(): Promise<number>;
  /** Removes unfinished uploads that began before `olderThan` (by the store's clock), and returns their number. */
  sweepUnfinishedUploads(olderThan: Date): Promise<number>;
  /** Rejects with the reason when the store cannot be used. */
  check(options?: ReadOptions): Promise<void>;
  close(): Promise<void>;
};

/** Longest lifetime of a link, in seconds: a week, which is the limit of S3. */
export const longestLinkSeconds = (7 * dayMs) / 1000;

export type PutOptions = {
  contentType?: string;
  /** Lower-case keys and ASCII values. `head` returns them, and S3 sends them as `x-amz-meta-*` with a download. */
  metadata?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
};

/** A part of an object. `same`: the place in the other object that has the same bytes, if it has them. */
export type ObjectPart = { read: () => AsyncIterable<Uint8Array>; same?: { at: number; sizeBytes: number } };

export type ObjectParts = Iterable<ObjectPart> | AsyncIterable<ObjectPart>;

/** The bytes of all parts, for stores that copy none of them. */
export async function* bytesOfParts(parts: ObjectParts): AsyncGenerator<Uint8Array> {
  for await (const { read } of parts) yield* read();
}

type PartsOptions = Omit<PutOptions, 'metadata'> & {
  /** The object that already has the parts with `same`. `version`: the one that `head` returned. */
  other?: { key: string; version: string | undefined };
  /** Called once, either before or after the parts are read, depending on the store. */
  metadata: () => Promise<NonNullable<PutOptions['metadata']>>;
};

/** The object whose parts should have been copied is gone, was replaced, or cannot be copied by this store. */
export class NotCopied extends Error {
  override name = 'NotCopied';
}

export type ReadOptions = { signal?: AbortSignal };

/** The stored bytes under a key are not a whole object: it was cut, or another program wrote it. The message names the place. */
export class DamagedObject extends Error {
  override name = 'DamagedObject';
}

/** The result of a read; undefined also for a damaged object. For objects that can be made again, damage counts as absence. */
export async function unlessDamaged<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof DamagedObject) return undefined;
    throw error;
  }
}

/** Bytes `start` to `end`, both included, from 0; without `end` to the last one. Rejects with `RangeError` if `start` is after the last byte. */
export type StreamOptions = ReadOptions & { range?: { start: number; end?: number } };

/** `version` (S3: ETag) changes when the object is replaced; undefined for stores without versions. */
export type ObjectHead = {
  sizeBytes: number;
  modifiedAt: Date;
  metadata: Readonly<Record<string, string>>;
  version?: string;
};

/** One object of a listing. `modifiedAt` is by the store's clock. */
export type ObjectEntry = { key: string; sizeBytes: number; modifiedAt: Date };

type PresignOptions = {
  lifetimeSeconds: number;
  /** File name under which the browser saves the download. */
  fileName: string;
  contentType: string;
};

type PresignedLink = { url: string; expiresAt: Date };

/** The store did not answer in time or refused the connection. The call had no partial effect and can be repeated later. */
export class ObjectStoreUnavailable extends Unavailable {
  override name = 'ObjectStoreUnavailable';
}

/**
 * A signal that ends a call to the store when it takes longer than `withinMs`, with `ObjectStoreUnavailable`, so that the caller tries
 * again later. The `TimeoutError` of `AbortSignal.timeout` would count as a fault of ours.
 */
export function storeWithin(withinMs: number): AbortSignal {
  const late = new AbortController();
  const reason = () => new ObjectStoreUnavailable(`the object store did not answer within ${withinMs} ms`);
  setTimeout(() => late.abort(reason()), withinMs).unref();
  return late.signal;
}

const recentMs = 12 * hourMs;

/**
 * True if the object was stored in the last 12 hours. Only then may a writer reuse it without writing it again. Garbage collection may
 * remove an object until the log references it, but keeps objects younger than 2 days.
 */
export function isStoredRecently(head: Pick<ObjectHead, 'modifiedAt'> | undefined, clock: Clock): boolean {
  return head !== undefined && clock.now().getTime() - head.modifiedAt.getTime() < recentMs;
}

const maxKeyBytes = 900;
/** File systems allow 255 bytes, and both folder adapters need a few of them. */
const maxSegmentBytes = 200;

/** Throws when `key` breaks the rules of `ObjectStore`. Only these rules keep the keys of a folder store inside its folder. */
export function checkObjectKey(key: string): void {
  const problem = keyProblem(key);
  if (problem !== undefined) throw new Error(`the object key ${JSON.stringify(key)} ${problem}`);
}

/** Throws like `checkObjectKey`. A prefix may end anywhere in a key, also inside a segment; '' matches every key. */
export function checkObjectPrefix(prefix: string): void {
  // The end of the prefix only filters names, so it is completed to a whole segment.
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

/** The metadata stored with an object's bytes. */
export type ObjectDescription = { contentType?: string; metadata: Readonly<Record<string, string>> };

/** S3 allows 2 KB. */
const maxMetadataBytes = 2000;

/** Checks the metadata that a writer gives with an object. The rules are the same for every store. The error names the wrong entry. */
export function objectDescription({ contentType, metadata = {} }: PutOptions): ObjectDescription {
  for (const [name, value] of Object.entries(metadata)) {
    if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) throw new Error(`metadata "${name}": a name has only a-z, 0-9 and -`);
    // Stores trim spaces at both ends, so such a value would come back changed.
    if (!/^[\x20-\x7e]*$/.test(value) || value.trim() !== value) {
      throw new Error(`metadata "${name}": a value must be printable ASCII, without spaces around it`);
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
