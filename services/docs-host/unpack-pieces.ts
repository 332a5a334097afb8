import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { constants, createInflateRaw } from 'node:zlib';
import { bundlePiecesSchema } from '#shared/contracts/stored-objects.ts';
import { manifestPath } from '#shared/export/bundle/verify-bundle.ts';
import { jsonIn, sha256Of } from '#shared/runtime/canonical-json.ts';
import { BundleRefused } from './bundle-refused.ts';
import { contentFile, type NewContent, type PartedBytes, type StoredBytes } from './content-folder.ts';
import type { EarlierVersion } from './earlier-version.ts';
import type { HeldPieces, PieceContents } from './held-pieces.ts';
import { type BundleRange, type Piece, placesOfPieces } from './piece-ranges.ts';
import { readWhole } from './read-whole.ts';
import { type TarEntries, tarEntries } from './tar-entries.ts';

/** Packed bytes of a bundle in a file: its ranges one after the other, or the whole archive. */
export type PackedPieces = { file: string; ranges: readonly BundleRange[] };

export type UnpackedPieces = {
  found: Map<string, PartedBytes>;
  /** The contents of the pieces, which the next version needs. */
  held: HeldPieces;
};

export type PieceBudgets = { unpackedBytes: number; entries: number };

/** Files up to this size are stored whole. Larger files are stored in parts, so that a new version shares unchanged parts. */
const mostWholeBytes = 1024 * 1024;
/** Limit of a part. */
const mostPartBytes = 4 * 1024 * 1024;
/** Number of packed bytes that are inflated in one step. */
const stepBytes = 128 * 1024;
const inflatedBytes = 256 * 1024;
/** Window of deflate: a piece may refer to the end of the previous one. */
const windowBytes = 32 * 1024;

/** The list of pieces in a file. Throws `BundleRefused` if it is not one. */
export async function readPieces(file: string): Promise<readonly Piece[]> {
  const parsed = bundlePiecesSchema.safeParse(jsonIn(await readFile(file, 'utf8')));
  if (!parsed.success) throw new BundleRefused('the list of the pieces of a bundle cannot be read');
  return parsed.data.pieces;
}

/**
 * The files of a bundle from its pieces: `packed` has those that are not `held`. A held piece with whole files is not read: its files are those of
 * the `earlier` version. Each other piece is inflated and checked, or read from its stored parts, and passed to the reader of archives. Throws
 * `BundleRefused` and `ArchiveRefused` for pieces that are wrong or make no archive. The caller compares the files with a manifest that it can trust.
 */
export async function unpackPieces(
  { file, ranges }: PackedPieces,
  pieces: readonly Piece[],
  content: NewContent,
  {
    contentFolder,
    earlier,
    held: heldBefore = new Map(),
    budgets,
  }: {
    contentFolder: string;
    earlier?: EarlierVersion | undefined;
    held?: HeldPieces | undefined;
    budgets: PieceBudgets;
  },
): Promise<UnpackedPieces> {
  const found = new Map<string, PartedBytes>();
  const held = new Map<string, PieceContents>();
  const files = incomingFiles(content, (path, bytes) => found.set(path, bytes));
  const entries = tarEntries(files.receiver, budgets.entries);
  const handle = await open(file);
  const places = placesOfPieces(pieces);
  const inflater = rawInflater(budgets.unpackedBytes);
  /** The last raw bytes so far; empty where they are not known. */
  let window = Buffer.alloc(0);

  const take = async (raw: Uint8Array): Promise<void> => {
    window = Buffer.concat([window, raw.subarray(-windowBytes)]).subarray(-windowBytes);
    await entries.write(raw);
  };

  /** Takes the files of a piece that the earlier version has. False if it does not have them. */
  function takeFiles(paths: readonly string[]): boolean {
    const known = paths.map((path) => earlier?.bundled.get(path)?.bytes);
    if (entries.place() !== 'between' || known.some((bytes) => bytes === undefined)) return false;
    for (const [at, path] of paths.entries()) {
      const bytes = known[at];
      if (found.has(path)) throw new BundleRefused(`${path} is in the bundle more than once`);
      if (bytes !== undefined) found.set(path, bytes);
    }
    window = Buffer.alloc(0);
    return true;
  }

  /** Inflates a piece from the packed bytes. */
  async function inflate([size, sha256]: Piece, place: number): Promise<void> {
    const from = placeIn(ranges, place, size);
    if (from === undefined) throw new BundleRefused('a piece of the bundle was not fetched');
    const hash = createHash('sha256');
    inflater.begin(window);
    for (let at = 0; at < size; ) {
      const step = Buffer.allocUnsafe(Math.min(stepBytes, size - at));
      const { bytesRead } = await handle.read(step, 0, step.length, from + at);
      if (bytesRead === 0) throw new BundleRefused('the packed bytes of the bundle end too early');
      hash.update(step.subarray(0, bytesRead));
      at += bytesRead;
      for (const raw of await inflater.write(step.subarray(0, bytesRead))) await take(raw);
    }
    if (hash.digest('hex') !== sha256)
      throw new BundleRefused('a piece of the bundle has other bytes than are expected');
  }

  try {
    for (const [index, piece] of pieces.entries()) {
      const known = heldBefore.get(piece[1]);
      files.beginPiece(entries);
      if (known !== undefined && 'files' in known && takeFiles(known.files)) {
        inflater.reset();
        held.set(piece[1], known);
        continue;
      }
      if (known !== undefined && 'parts' in known && entries.place() === 'inside') {
        inflater.reset();
        files.keepParts(known.parts);
        for (const { sha256, size } of known.parts)
          await take(await readWhole(contentFile(contentFolder, sha256), size));
      } else await inflate(piece, places[index] ?? 0);
      const contents = await files.endPiece(entries);
      if (contents !== undefined) held.set(piece[1], contents);
    }
    if (entries.place() !== 'between') throw new BundleRefused('the archive ends in the middle of a file');
    return { found, held };
  } finally {
    inflater.reset();
    await handle.close();
  }
}

/** The offset in the file of ranges of some bytes of the bundle. */
function placeIn(ranges: readonly BundleRange[], start: number, size: number): number | undefined {
  let at = 0;
  for (const range of ranges) {
    if (start >= range.start && start + size <= range.end) return at + start - range.start;
    at += range.end - range.start;
  }
  return undefined;
}

/** Inflates pieces one after the other. After a reset, the next one begins with the bytes before it as the window. */
function rawInflater(mostBytes: number) {
  let stream: ReturnType<typeof createInflateRaw> | undefined;
  let ready: Buffer[] = [];
  let failed: Error | undefined;
  let closed: Promise<unknown> = Promise.resolve();
  let bytes = 0;
  return {
    begin(window: Buffer): void {
      if (stream !== undefined) return;
      stream = createInflateRaw({
        finishFlush: constants.Z_SYNC_FLUSH,
        chunkSize: inflatedBytes,
        ...(window.length > 0 && { dictionary: window }),
      });
      closed = once(stream, 'close').catch(() => {});
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        ready.push(chunk);
      });
      stream.on('error', (error) => {
        failed = error;
      });
    },
    /** Inflates packed bytes, and returns their raw bytes. */
    async write(packed: Buffer): Promise<readonly Buffer[]> {
      const current = stream;
      if (current === undefined) throw new Error('nothing is being inflated');
      const written = new Promise<void>((resolve) => current.write(packed, () => resolve()));
      // After an error, the callback of the write is not called.
      await Promise.race([written, closed]);
      if (failed !== undefined) throw new BundleRefused(`the bundle cannot be inflated: ${failed.message}`);
      if (bytes > mostBytes) throw new BundleRefused(`the bundle unpacks to more than ${mostBytes} bytes`);
      const taken = ready;
      ready = [];
      return taken;
    },
    reset(): void {
      stream?.destroy();
      stream = undefined;
      ready = [];
    },
  };
}

/** Stores the files of an archive, and tells what each piece contained. */
function incomingFiles(content: NewContent, onFile: (path: string, bytes: PartedBytes) => void) {
  let current:
    | { path: string; size: number; hash: Hash; parts: StoredBytes[]; pending: Uint8Array[]; bytes: number }
    | undefined;
  let top: string | undefined;
  let begins: 'between' | 'inside' | 'elsewhere' = 'elsewhere';
  /** Paths of the files that began in this piece, and the parts that were stored in it. */
  let paths: string[] = [];
  let parts: StoredBytes[] = [];
  /** True while the bytes that are read belong to parts that are already stored. */
  let isKept = false;

  const isParted = (): boolean => current !== undefined && current.size > mostWholeBytes;

  /** Stores the bytes since the last part. */
  async function cut(): Promise<void> {
    if (current === undefined || current.bytes === 0) return;
    const part = await content.put(Buffer.concat(current.pending));
    current.parts.push(part);
    parts.push(part);
    current.pending = [];
    current.bytes = 0;
  }

  return {
    receiver: {
      begin(path: string, size: number): void {
        const slash = path.indexOf('/');
        const folder = path.slice(0, slash + 1);
        top ??= folder;
        if (slash < 0 || folder !== top)
          throw new BundleRefused(`the bundle has ${JSON.stringify(path)} outside of its one top folder`);
        current = { path: path.slice(slash + 1), size, hash: createHash('sha256'), parts: [], pending: [], bytes: 0 };
        paths.push(current.path);
      },
      async bytes(bytes: Uint8Array): Promise<void> {
        if (current === undefined) return;
        if (isParted()) current.hash.update(bytes);
        if (isKept) return;
        current.pending.push(bytes);
        current.bytes += bytes.length;
        if (isParted() && current.bytes >= mostPartBytes) await cut();
      },
      async end(): Promise<void> {
        if (current === undefined) return;
        const { path, size, hash } = current;
        if (isParted()) {
          await cut();
          const stored = current.parts.reduce((sum, part) => sum + part.size, 0);
          if (stored !== size) throw new BundleRefused(`${path} ends in the middle of a part`);
          onFile(path, { size, sha256: hash.digest('hex'), parts: current.parts });
        } else onFile(path, await content.put(Buffer.concat(current.pending)));
        current = undefined;
      },
    },
    beginPiece(entries: TarEntries): void {
      begins = entries.place();
      paths = [];
      parts = [];
      isKept = false;
    },
    /** The bytes of this piece are these parts of the current file, and need not be stored. */
    keepParts(known: readonly StoredBytes[]): void {
      current?.parts.push(...known);
      parts.push(...known);
      isKept = true;
    },
    /** The contents of the piece, if the next version can use them without its bytes. */
    async endPiece(entries: TarEntries): Promise<PieceContents | undefined> {
      const ends = entries.place();
      if (isParted()) await cut();
      if (begins === 'between' && ends === 'between') return { files: paths };
      // The last piece of a file may end at the end of the file, but then the padding of its last block is in another piece.
      return begins === 'inside' && ends === 'inside' && paths.length === 0 && isParted() ? { parts } : undefined;
    },
  };
}

/** Throws `BundleRefused` unless the manifest is the one that the platform recorded. */
export async function requireManifest(
  found: ReadonlyMap<string, PartedBytes>,
  content: NewContent,
  sha256: string,
): Promise<void> {
  const manifest = found.get(manifestPath);
  if (manifest === undefined || sha256Of(await content.read(manifest)) !== sha256)
    throw new BundleRefused('the pieces of the bundle do not have the manifest that the platform recorded');
}
