import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { crc32Combine } from './crc32-combine.ts';
import type { SegmentSummary } from './segment-writer.ts';
import { tarTrailer } from './tar-header.ts';

/** A stored segment, with the values of its sidecar. */
export type SegmentSource = Pick<SegmentSummary, 'sha256' | 'crc32' | 'rawLength' | 'sizeBytes'> & {
  /** Key of the segment, for errors. */
  key: string;
  /** Returns its bytes, whole or as a stream; undefined if there is no such segment. */
  open(): Promise<Readable | Uint8Array | undefined>;
};

/** Header of gzip: magic, deflate, no flags, no time, no hint, operating system unknown (RFC 1952). It is the same in every run. */
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/**
 * Last block of the deflate data: the end of the tar archive, stored. Segments end on a byte boundary (full flush), so its three header bits are the
 * low bits of a byte of their own: final, stored; then length and its complement (RFC 1951, 3.2.4).
 */
const lastBlock = Buffer.concat([
  Buffer.from([
    1,
    tarTrailer.length & 255,
    tarTrailer.length >> 8,
    ~tarTrailer.length & 255,
    (~tarTrailer.length >> 8) & 255,
  ]),
  tarTrailer,
]);

const gzipTrailerBytes = 8;
/** Number of segments that are opened while one is read, because segments are small and each costs a round trip to the store. */
const openAhead = 4;

/**
 * Joins segments, in their order and with the end of the tar archive, to a bundle of one gzip member, without decompressing them. The stream fails
 * with `SegmentDamaged` if a segment is missing or does not match its sidecar, and with the store's own errors. The output before a failure is not a
 * bundle: store only a complete one.
 */
export function joinSegments(segments: readonly SegmentSource[]): Readable {
  return Readable.from(bundleBytes(segments), { objectMode: false, highWaterMark: 256 * 1024 });
}

async function* bundleBytes(segments: readonly SegmentSource[]): AsyncGenerator<Uint8Array> {
  yield gzipHeader;
  const waiting = [...segments];
  const opened: ReturnType<SegmentSource['open']>[] = [];
  try {
    for (const [index, segment] of segments.entries()) {
      opened.push(...waiting.splice(0, openAhead - opened.length).map(open));
      yield* checked(segment, index, await opened.shift());
    }
  } finally {
    for (const ended of await Promise.allSettled(opened)) {
      if (ended.status === 'fulfilled' && ended.value instanceof Readable) ended.value.destroy();
    }
  }
  yield lastBlock;
  yield gzipTrailer(segments);
}

function open(segment: SegmentSource): ReturnType<SegmentSource['open']> {
  const opening = segment.open();
  opening.then(
    // The error has no listener before the segment's turn. The stream keeps it and throws it when it is read.
    (body) => body instanceof Readable && body.on('error', () => {}),
    () => {},
  );
  return opening;
}

async function* checked(
  segment: SegmentSource,
  index: number,
  body: Readable | Uint8Array | undefined,
): AsyncGenerator<Uint8Array> {
  if (body === undefined) throw new SegmentDamaged(segment.key, index, 'is missing');
  const digest = createHash('sha256');
  let read = 0;
  for await (const chunk of body instanceof Readable ? (body as AsyncIterable<Uint8Array>) : [body]) {
    read += chunk.length;
    if (read > segment.sizeBytes) break;
    digest.update(chunk);
    yield chunk;
  }
  if (read !== segment.sizeBytes) {
    const found = read > segment.sizeBytes ? 'more' : `only ${read}`;
    throw new SegmentDamaged(segment.key, index, `has ${found} of ${segment.sizeBytes} bytes`);
  }
  if (digest.digest('hex') !== segment.sha256) {
    throw new SegmentDamaged(segment.key, index, `does not have the SHA-256 ${segment.sha256}`);
  }
}

function gzipTrailer(segments: readonly SegmentSource[]): Buffer {
  let crc = 0;
  let length = 0;
  for (const segment of segments) {
    crc = crc32Combine(crc, segment.crc32, segment.rawLength);
    length += segment.rawLength;
  }
  crc = crc32Combine(crc, crc32(tarTrailer), tarTrailer.length);
  const trailer = Buffer.alloc(gzipTrailerBytes);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE((length + tarTrailer.length) % 2 ** 32, 4);
  return trailer;
}

/**
 * SHA-256 (64 hex digits) and size of the bundle of these segments, which are metadata needed before the upload. Reads every segment once, and fails
 * like `joinSegments`. A bundle of at most `keptBytes` is held in memory and returned, so that it need not be read again.
 */
export async function digestBundle(
  segments: readonly SegmentSource[],
  keptBytes = 0,
): Promise<{ sha256: string; sizeBytes: number; bytes?: Uint8Array[] }> {
  const isKept = segments.reduce((sum, segment) => sum + segment.sizeBytes, 0) <= keptBytes;
  const digest = createHash('sha256');
  const bytes: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of bundleBytes(segments)) {
    digest.update(chunk);
    sizeBytes += chunk.length;
    if (isKept) bytes.push(chunk);
  }
  return { sha256: digest.digest('hex'), sizeBytes, ...(isKept && { bytes }) };
}

/** A segment is missing or does not match its sidecar. It must be rendered again; the bundle was not made. */
export class SegmentDamaged extends Error {
  override name = 'SegmentDamaged';
  /** Key of the segment, as given to the join. */
  readonly key: string;
  /** Place in the bundle, from 0. */
  readonly index: number;

  constructor(key: string, index: number, reason: string) {
    super(`segment ${key} (number ${index + 1} of the bundle) ${reason}: it must be rendered again`);
    this.key = key;
    this.index = index;
  }
}
