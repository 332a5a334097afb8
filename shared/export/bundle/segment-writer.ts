import { createHash, hash } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { freeBytes } from '#shared/runtime/free-bytes.ts';
import { crc32Combine } from './crc32-combine.ts';
import { deflatePiece, deflateWhole, pieceBytes, windowBytes } from './deflated-bytes.ts';
import { tarHeader, tarPadding } from './tar-header.ts';

const piecesAtOnce = 4;

/**
 * Bytes that were deflated before (`deflateWhole`), which are packed unchanged. `crc32`: of the raw bytes. `sha256`: of the deflated bytes, if their
 * reader has computed it.
 */
export type DeflatedBytes = { raw: Uint8Array; deflated: Uint8Array; crc32: number; sha256?: string };

/** Deflated bytes that are inflated only if needed: bytes that follow them are deflated with their end as the window. */
export type UnreadBytes = Omit<DeflatedBytes, 'raw'> & { rawLength: number; inflate: () => Promise<Uint8Array> };

export type SegmentWriter = {
  /** The packed bytes. They must be read meanwhile, because `add` and `finish` wait for the reader. */
  output: Readable;
  /** The pieces of the bytes so far: each is listed before its bytes can be read. Empty unless the writer was asked for them. */
  pieces: readonly SegmentPiece[];
  /** Adds a file; wait for each call before the next. Rejects for paths that are not allowed in an archive, and after `output` was destroyed. */
  add(path: string, body: Uint8Array): Promise<void>;
  /**
   * Adds a file that is too large for memory. Its size must be known in advance; a body of another size rejects. Returns its SHA-256. A caller that
   * hashes the file itself passes `digest`, which is called at the end, and its result is returned instead. Only with `digest` may the body have
   * unread bytes.
   */
  addStream(path: string, size: number, body: AsyncIterable<Uint8Array | DeflatedBytes>): Promise<string>;
  addStream(
    path: string,
    size: number,
    body: AsyncIterable<Uint8Array | DeflatedBytes | UnreadBytes>,
    digest: () => string,
  ): Promise<string>;
  /** Ends the segment. To abandon it instead, destroy `output`. */
  finish(): Promise<SegmentSummary>;
};

/**
 * Packs files into a segment: tar entries as raw deflate data, ended by a full flush on a byte boundary and without a last block, so that segments
 * can be concatenated. The same files in the same order give the same bytes. Compresses off the event loop, with the memory of a few pieces.
 * `withPieces`: the summary lists the pieces.
 */
export function segmentWriter({ withPieces = false }: { withPieces?: boolean } = {}): SegmentWriter {
  const contents = segmentContents();
  const packed = createHash('sha256');
  let sizeBytes = 0;
  let crc = 0;
  let rawLength = 0;
  let piece = Buffer.allocUnsafe(pieceBytes);
  let filled = 0;
  /** The last bytes before the next piece, or a function that reads them. */
  let before: Uint8Array | (() => Promise<Uint8Array>) = new Uint8Array(0);
  /** Pieces that are being deflated, in their order. */
  const deflating: Promise<DeflatedPiece>[] = [];
  const pieces: SegmentPiece[] = [];
  const output = new PassThrough({ highWaterMark: windowBytes });
  const closed = finished(output);
  closed.catch(() => {}); // The next `add` or `finish` throws this error.

  /** Passes the oldest piece to the reader. */
  async function passOn(): Promise<void> {
    const next = await deflating[0];
    void deflating.shift();
    if (next === undefined) return;
    const { bytes, sha256 } = next;
    packed.update(bytes);
    if (withPieces) pieces.push([bytes.length, sha256 ?? hash('sha256', bytes, 'hex')]);
    sizeBytes += bytes.length;
    if (!output.write(bytes)) await Promise.race([once(output, 'drain'), closed]);
  }

  async function writePiece(): Promise<void> {
    const full = piece.subarray(0, filled);
    piece = Buffer.allocUnsafe(pieceBytes);
    filled = 0;
    const window = before instanceof Uint8Array ? before : windowOf(await before());
    before = windowOf(full);
    const deflated = deflatePiece(full, window).then((bytes) => {
      freeBytes(full);
      return { bytes };
    });
    await append(full.length, crc32(full), deflated);
  }

  async function append(length: number, sum: number, turn: Promise<DeflatedPiece>): Promise<void> {
    crc = crc32Combine(crc, sum, length);
    rawLength += length;
    turn.catch(() => {}); // `passOn` throws this error when it comes to this piece.
    deflating.push(turn);
    if (output.destroyed) await closed;
    while (deflating.length >= piecesAtOnce) await passOn();
  }

  async function writeDeflated(bytes: DeflatedBytes | UnreadBytes): Promise<void> {
    const { deflated, crc32: sum, sha256 } = bytes;
    if (filled > 0) await writePiece();
    before = 'raw' in bytes ? windowOf(bytes.raw) : bytes.inflate;
    await append(lengthOf(bytes), sum, Promise.resolve({ bytes: deflated, sha256 }));
  }

  async function writeRaw(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      const taken = Math.min(pieceBytes - filled, bytes.length - from);
      piece.set(bytes.subarray(from, from + taken), filled);
      filled += taken;
      from += taken;
      if (filled === pieceBytes) await writePiece();
    }
  }

  return {
    output,
    pieces,
    async add(path, body) {
      await writeRaw(contents.header(path, body.length));
      await writeRaw(body);
      await writeRaw(tarPadding(body.length));
      contents.added(path, body.length, hash('sha256', body, 'hex'));
    },
    async addStream(
      path: string,
      size: number,
      body: AsyncIterable<Uint8Array | DeflatedBytes | UnreadBytes>,
      digest?: () => string,
    ) {
      await writeRaw(contents.header(path, size));
      const own = digest === undefined ? createHash('sha256') : undefined;
      let read = 0;
      for await (const chunk of body) {
        read += chunk instanceof Uint8Array ? chunk.length : lengthOf(chunk);
        if (read > size) break;
        if (chunk instanceof Uint8Array) own?.update(chunk);
        else if ('raw' in chunk) own?.update(chunk.raw);
        await (chunk instanceof Uint8Array ? writeRaw(chunk) : writeDeflated(chunk));
      }
      if (read !== size) throw new Error(`${path} has ${read > size ? 'more than' : `only ${read} of`} ${size} bytes`);
      await writeRaw(tarPadding(size));
      return contents.added(path, size, digest?.() ?? own?.digest('hex') ?? '');
    },
    async finish() {
      if (filled > 0) await writePiece();
      while (deflating.length > 0) await passOn();
      if (output.destroyed) await closed;
      output.end();
      const summary = { sha256: packed.digest('hex'), crc32: crc, rawLength, sizeBytes, files: contents.files };
      return withPieces ? { ...summary, pieces } : summary;
    },
  };
}

type DeflatedPiece = { bytes: Uint8Array; sha256?: string | undefined };

const lengthOf = (bytes: DeflatedBytes | UnreadBytes): number => ('raw' in bytes ? bytes.raw.length : bytes.rawLength);

/** The end of some bytes, copied, because a slice would keep all of them in memory. */
const windowOf = (raw: Uint8Array): Uint8Array => Buffer.from(raw.subarray(-windowBytes));

/** The contents of a segment so far. */
function segmentContents() {
  const files: SegmentFile[] = [];
  const paths = new Set<string>();
  return {
    files,
    /** The header of the next file. Throws for a path that is not allowed in an archive, and for a duplicate. */
    header(path: string, size: number): Uint8Array {
      if (paths.has(path))
        throw new Error(`${path} is already in this segment: each path may be in a bundle only once`);
      const header = tarHeader(path, size);
      paths.add(path);
      return header;
    },
    /** Records an added file. Returns its SHA-256. */
    added(path: string, size: number, sha256: string): string {
      files.push({ path, size, sha256 });
      return sha256;
    },
  };
}

/** A file to pack: its path in the archive (with the top folder) and its bytes or text. */
export type FileToPack = { path: string; body: string | Uint8Array };

/**
 * Packs files into one segment in memory: for chunks, which have a few hundred kilobytes. The bytes are those of a `segmentWriter`, in half of the
 * time. Texts are written directly to their place in the segment. Rejects like `segmentWriter`.
 */
export async function packSegment(files: readonly FileToPack[]): Promise<SegmentSummary & { bytes: Buffer }> {
  const contents = segmentContents();
  const entries = files.map(({ path, body }) => {
    const size = Buffer.byteLength(body);
    return { path, body, size, header: contents.header(path, size), padding: tarPadding(size) };
  });
  const raw = Buffer.allocUnsafe(
    entries.reduce((sum, { header, size, padding }) => sum + header.length + size + padding.length, 0),
  );
  let end = 0;
  for (const { path, body, size, header, padding } of entries) {
    raw.set(header, end);
    const begin = end + header.length;
    if (typeof body === 'string') raw.write(body, begin);
    else raw.set(body, begin);
    raw.set(padding, begin + size);
    end = begin + size + padding.length;
    contents.added(path, size, hash('sha256', raw.subarray(begin, begin + size), 'hex'));
  }
  const bytes = await deflateWhole(raw);
  const facts = { crc32: crc32(raw), rawLength: raw.length };
  freeBytes(raw);
  return {
    sha256: hash('sha256', bytes, 'hex'),
    ...facts,
    sizeBytes: bytes.length,
    bytes,
    files: contents.files,
  };
}

/** One file inside a segment: its path in the archive, size in bytes, SHA-256 of its bytes as 64 hex digits. */
type SegmentFile = { path: string; size: number; sha256: string };

/** One of the consecutive pieces of a segment's packed bytes: its size in bytes and their SHA-256. Copied deflate data is a piece of its own. */
export type SegmentPiece = [sizeBytes: number, sha256: string];

/** Description of a packed segment, the base of its sidecar. */
export type SegmentSummary = {
  /** SHA-256 of the packed bytes, 64 hex digits. */
  sha256: string;
  /** CRC-32 of the unpacked tar bytes, unsigned. */
  crc32: number;
  /** Number of unpacked tar bytes. */
  rawLength: number;
  /** Number of packed bytes. */
  sizeBytes: number;
  /** Files in the order in which they were added. */
  files: SegmentFile[];
  /** The pieces in their order, if the writer was asked for them. */
  pieces?: SegmentPiece[];
};
