import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { bytesOfParts, NotCopied, type ObjectPart } from '#shared/storage/object-store.ts';
import { crc32Combine } from './crc32-combine.ts';
import { commonRuns, type OpenRange, placesOf, readPieces, RunningSum } from './common-pieces.ts';
import { lastBlock } from './deflated-bytes.ts';
import type { SegmentPiece, SegmentSummary } from './segment-writer.ts';
import { tarTrailer } from './tar-header.ts';

/** A stored segment, with the values of its sidecar. */
export type SegmentSource = Pick<SegmentSummary, 'sha256' | 'crc32' | 'rawLength' | 'sizeBytes'> & {
  /** Key of the segment, for errors. */
  key: string;
  /** The pieces of its bytes, if they are known. A segment with other content may share some of them. */
  pieces?: readonly SegmentPiece[] | undefined;
  /** Returns its bytes, whole or as a stream; undefined if there is no such segment. */
  open(): Promise<Readable | Uint8Array | undefined>;
  /** Returns the bytes from `start` up to `end` (not included). Needed only with `pieces`. */
  openRange?: OpenRange;
};

/** Header of gzip: magic, deflate, no flags, no time, no hint, operating system unknown (RFC 1952). It is the same in every run. */
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** The end of the tar archive. Segments end at a byte boundary (full flush), so it can follow them. */
const archiveEnd = lastBlock(tarTrailer);

const gzipTrailerBytes = 8;
/** Bytes that a bundle has in addition to its segments. */
const framingBytes = gzipHeader.length + archiveEnd.length + gzipTrailerBytes;
/** Number of segments that are opened while one is read, because segments are small and each costs a round trip to the store. */
const openAhead = 4;

/** A stored bundle whose parts may be the same as those of a new one. */
export type StoredBundle = {
  key: string;
  segments: readonly Pick<SegmentSource, 'sha256' | 'sizeBytes' | 'pieces'>[];
  openRange: OpenRange;
};

export type JoinedBundle = {
  sizeBytes: number;
  /** The pieces after its header, in their order. */
  pieces: readonly SegmentPiece[];
  parts: readonly ObjectPart[];
  /** SHA-256 of the bundle, 64 hex digits. Computing it reads the parts, unless all of them have already been read once in their order. */
  sha256(): Promise<string>;
};

/**
 * Joins segments, in their order and with the end of the tar archive, to a bundle of one gzip member, without decompressing them. Reading fails with
 * `SegmentDamaged` if a segment is missing or does not match its sidecar, with `NotCopied` if bytes that should come from the `last` bundle are
 * missing or differ, and with the store's own errors. The output before a failure is not a bundle: store only a complete one. A bundle of at most
 * `keptBytes` stays in memory once it is read.
 */
export function joinedBundle(
  segments: readonly SegmentSource[],
  { last, keptBytes = 0 }: { last?: StoredBundle | undefined; keptBytes?: number } = {},
): JoinedBundle {
  const sizeBytes = segments.reduce((sum, segment) => sum + segment.sizeBytes, framingBytes);
  const isKept = sizeBytes <= keptBytes;
  const plain = partsOf(segments, last);
  let digest = createHash('sha256');
  /** Number of the part whose bytes the digest needs next; NaN while a part is read. */
  let next = 0;
  let sum: string | undefined;
  const parts = plain.map(({ read, same }, number): ObjectPart => {
    let kept: Uint8Array[] | undefined;
    async function* readOnce(): AsyncGenerator<Uint8Array> {
      if (number === 0 && sum === undefined) [digest, next] = [createHash('sha256'), 0];
      const isDigested = number === next;
      if (isDigested) next = Number.NaN;
      const pieces: Uint8Array[] = [];
      for await (const piece of kept ?? read()) {
        if (isDigested) digest.update(piece);
        if (isKept) pieces.push(piece);
        yield piece;
      }
      if (isDigested) next = number + 1;
      if (isKept) kept = pieces;
    }
    return { read: readOnce, ...(same && { same }) };
  });
  return {
    sizeBytes,
    pieces: segments.flatMap(piecesOf),
    parts,
    async sha256() {
      if (sum === undefined && next !== parts.length) for (const { read } of parts) for await (const _ of read());
      return (sum ??= digest.digest('hex'));
    },
  };
}

/** The bytes of a bundle as one stream. */
export const joinSegments = (segments: readonly SegmentSource[]): Readable =>
  Readable.from(bytesOfParts(partsOf(segments)), { objectMode: false, highWaterMark: 256 * 1024 });

/** Parts of a bundle in order: its header, runs of segments and pieces, and its trailer. In the `last` bundle a run is either contiguous or absent. */
function partsOf(segments: readonly SegmentSource[], last?: StoredBundle): ObjectPart[] {
  const runs = last === undefined ? [{ read: () => readSegments(segments, 0) }] : partsBeside(segments, last);
  const isHeaderSame = runs[0]?.same?.at === gzipHeader.length;
  return [
    { read: () => inPieces([gzipHeader]), ...(isHeaderSame && { same: { at: 0, sizeBytes: gzipHeader.length } }) },
    ...runs,
    { read: () => inPieces([archiveEnd, gzipTrailer(segments)]) },
  ];
}

async function* inPieces(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** A piece of a segment, which begins at byte `start` of it, or a whole segment. `index`: the place of the segment in the bundle. */
type Unit = { piece: SegmentPiece; segment: SegmentSource; index: number; start: number; isWhole: boolean };

function partsBeside(segments: readonly SegmentSource[], last: StoredBundle): ObjectPart[] {
  const lastPieces = last.segments.flatMap(piecesOf);
  const places = placesOf(lastPieces, gzipHeader.length);
  const units = segments.flatMap((segment, index): Unit[] => {
    const pieces = piecesOf(segment);
    const starts = placesOf(pieces, 0);
    const isWhole = segment.pieces === undefined;
    return pieces.map((piece, number) => ({ piece, segment, index, start: starts[number] ?? 0, isWhole }));
  });
  const sums = (pieces: readonly SegmentPiece[]) => pieces.map(([, sha256]) => sha256);
  return commonRuns(sums(units.map(({ piece }) => piece)), sums(lastPieces)).map(({ begin, end, at }) => {
    const run = units.slice(begin, end);
    const place = at === undefined ? undefined : places[at];
    if (place === undefined) return { read: () => readUnits(run) };
    const pieces = run.map(({ piece }) => piece);
    const damaged = (reason: string) => new NotCopied(`the bundle ${last.key} ${reason}`);
    const sizeBytes = pieces.reduce((sum, [size]) => sum + size, 0);
    return { read: () => readPieces(last.openRange, place, pieces, damaged), same: { at: place, sizeBytes } };
  });
}

/** The pieces of a segment, or the segment as one piece. */
const piecesOf = ({ pieces, sizeBytes, sha256 }: StoredBundle['segments'][number]): readonly SegmentPiece[] =>
  pieces ?? [[sizeBytes, sha256]];

async function* readUnits(units: readonly Unit[]): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < units.length; ) {
    const { segment, index, start, isWhole } = units[at] as Unit;
    const isLike = (unit: Unit) => (isWhole ? unit.isWhole : unit.segment === segment);
    const behind = units.findIndex((unit, number) => number > at && !isLike(unit));
    const alike = units.slice(at, behind < 0 ? undefined : behind);
    at += alike.length;
    if (isWhole) {
      yield* readSegments(
        alike.map((unit) => unit.segment),
        index,
      );
      continue;
    }
    const pieces = alike.map(({ piece }) => piece);
    const damaged = (reason: string) => new SegmentDamaged(segment.key, index, reason);
    yield* readPieces(segment.openRange ?? (async () => undefined), start, pieces, damaged);
  }
}

/** Reads segments in order. `first`: the place of the first segment in the bundle. */
async function* readSegments(segments: readonly SegmentSource[], first: number): AsyncGenerator<Uint8Array> {
  const waiting = [...segments];
  const opened: ReturnType<SegmentSource['open']>[] = [];
  try {
    for (const [index, segment] of segments.entries()) {
      opened.push(...waiting.splice(0, openAhead - opened.length).map(open));
      yield* checked(segment, first + index, await opened.shift());
    }
  } finally {
    for (const ended of await Promise.allSettled(opened)) {
      if (ended.status === 'fulfilled' && ended.value instanceof Readable) ended.value.destroy();
    }
  }
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
  const sum = new RunningSum();
  for await (const chunk of body instanceof Readable ? (body as AsyncIterable<Uint8Array>) : [body]) {
    if (sum.sizeBytes + chunk.length > segment.sizeBytes) {
      throw new SegmentDamaged(segment.key, index, `has more than ${segment.sizeBytes} bytes`);
    }
    sum.add(chunk);
    yield chunk;
  }
  if (sum.sizeBytes !== segment.sizeBytes) {
    throw new SegmentDamaged(segment.key, index, `has only ${sum.sizeBytes} of ${segment.sizeBytes} bytes`);
  }
  if (!sum.is(segment.sha256)) {
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
