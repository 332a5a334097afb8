import type { Readable } from 'node:stream';

/**
 * What is kept outside the log: contents, segments, bundles. Keys are `/`-separated paths of `[A-Za-z0-9._~!+@=,() -]` segments
 * (no empty, `.` or `..` segment, none over 200 bytes), at most 900 bytes. No key goes on
 * where another one ends (`a` and `a/b`): S3 gateways over file systems refuse that.
 *
 * What an adapter owes:
 * - A put is all or nothing. A reader sees the old object or the whole new one, never a part; a writer that dies leaves nothing under the key.
 * - Read after write: once a put has answered, every get, head and list shows it.
 * - Every call ends: within `signal`, or with `ObjectStoreUnavailable` when the store does not answer.
 * - Nothing is overwritten by `putIfAbsent`.
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
  /** A link that anyone may read the object with until it expires. Lifetimes are cut to `maxLinkLifetimeSeconds`. */
  presign(key: string, options: PresignOptions): Promise<PresignedLink>;
  /** How far the store's clock is ahead of ours, in milliseconds; 0 for stores on this machine. */
  clockSkewMs(): Promise<number>;
  /** Removes what writers that died before `olderThan`, a time of the store's clock, left unfinished, and says how many there were. */
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

/** Bytes `start` to `end`, both included, from 0; without `end` to the last one. A start behind the last byte is a `RangeError`. */
export type StreamOptions = ReadOptions & { range?: { start: number; end?: number } };

export type ObjectHead = { sizeBytes: number; modifiedAt: Date; metadata: Readonly<Record<string, string>> };

export type ObjectEntry = { key: string; sizeBytes: number; modifiedAt: Date };

export type PresignOptions = {
  lifetimeSeconds: number;
  /** Name the browser saves the download under. */
  fileName: string;
  contentType: string;
};

export type PresignedLink = { url: string; expiresAt: Date };
