import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { constants, createInflateRaw } from 'node:zlib';
import { bundlePiecesSchema } from '#shared/contracts/stored-objects.ts';
import { jsonIn, sha256Of } from '#shared/runtime/canonical-json.ts';
import { BundleRefused } from './bundle-refused.ts';
import { contentFile, type NewContent, type PartedBytes, type StoredBytes } from './content-folder.ts';
import { beginningIn, contentsIn, hasFiles, partsIn, type PieceContents } from './held-pieces.ts';
import { type BundleRange, type Piece, placesOfPieces } from './piece-ranges.ts';
import { readWhole } from './read-whole.ts';
import type { SortedLines } from './sorted-lines.ts';
import { type TarEntries, tarEntries } from './tar-entries.ts';
import type { VersionList } from './version-list.ts';

/** Packed bytes of a bundle in a file: its ranges one after the other, or the whole archive. */
export type PackedPieces = { file: string; ranges: readonly BundleRange[] };

/** The version before a bundle, and the pieces of its bundle. */
export type PiecesBefore = { list: Pick<VersionList, 'bundled'>; pieces: SortedLines };

/** The difference between a bundle and the version before; without one, the whole bundle. */
export type UnpackedPieces = {
  /** The files that were unpacked. Some of them may be the same as before. */
  added: Map<string, PartedBytes>;
  /** Paths of files with parts that were not read. Their digests are not known: the manifest has them. */
  unread: Set<string>;
  /** Paths of the version before that the bundle does not have. */
  removed: Set<string>;
  /** The contents of new pieces, and undefined for pieces that are gone. */
  pieces: Map<string, PieceContents | undefined>;
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
 * Unpacks the pieces of a bundle that the version before does not hold, which `packed` has. A held piece is not read: its files stay, or its parts
 * become parts of the new file. Each other piece is inflated, checked and passed to the reader of archives. Throws `BundleRefused` and `ArchiveRefused`
 * for pieces that are wrong or make no archive. The caller compares the files with a manifest that it can trust.
 */
export async function unpackPieces(
  { file, ranges }: PackedPieces,
  pieces: readonly Piece[],
  content: NewContent,
  {
    contentFolder,
    before,
    budgets,
  }: { contentFolder: string; before?: PiecesBefore | undefined; budgets: PieceBudgets },
): Promise<UnpackedPieces> {
  const added = new Map<string, PartedBytes>();
  const unread = new Set<string>();
  const changes = new Map<string, PieceContents | undefined>();
  const isHere = new Set(pieces.map(([, sha256]) => sha256));
  /** Paths of the version before that are not in pieces whose files stay. */
  const leaving = new Set<string>();
  for (const { name, value } of before?.pieces.each() ?? []) {
    if (isHere.has(name) && hasFiles(value)) continue;
    for (const path of beginningIn(contentsIn(value))) leaving.add(path);
    if (!isHere.has(name)) changes.set(name, undefined);
  }
  const staying = new Set<string>();
  const files = incomingFiles(content, (path, bytes, isRead) => {
    const isTwice = added.has(path) || (!leaving.has(path) && before?.list.bundled(path) !== undefined);
    if (isTwice) throw new BundleRefused(`${path} is in the bundle more than once`);
    added.set(path, bytes);
    if (!isRead) unread.add(path);
  });
  const entries = tarEntries(files.receiver, budgets.entries);
  const handle = await open(file);
  const places = placesOfPieces(pieces);
  const inflater = rawInflater(budgets.unpackedBytes);
  /** The last raw bytes so far; empty where they are not known. */
  let window = Buffer.alloc(0);
  /** The parts after the window, which are not read unless the next piece may refer to them. */
  let passed: StoredBytes[] = [];

  const take = async (raw: Uint8Array): Promise<void> => {
    window = Buffer.concat([window, raw.subarray(-windowBytes)]).subarray(-windowBytes);
    await entries.write(raw);
  };

  /** Lets the files of a held piece stay. False if the piece begins in the middle of a file. */
  function keepFiles(sha256: string): boolean {
    if (entries.place() !== 'between') return false;
    if (staying.has(sha256)) throw new BundleRefused('a piece with files is in the bundle more than once');
    staying.add(sha256);
    window = Buffer.alloc(0);
    passed = [];
    return true;
  }

  /** The bytes before a piece that it may refer to. */
  async function windowBefore(): Promise<Buffer> {
    for (let at = passed.length - 1, tail = Buffer.alloc(0); at >= 0; at -= 1) {
      const { sha256, size } = passed[at] as StoredBytes;
      const part = await readWhole(contentFile(contentFolder, sha256), size);
      if (sha256Of(part) !== sha256) throw new BundleRefused('a stored part of a file is damaged');
      tail = Buffer.concat([part, tail]);
      if (at === 0) tail = Buffer.concat([window, tail]);
      window = tail.subarray(-windowBytes);
      if (tail.length >= windowBytes) break;
    }
    passed = [];
    return window;
  }

  /** Inflates a piece from the packed bytes. */
  async function inflate([size, sha256]: Piece, place: number): Promise<void> {
    const from = placeIn(ranges, place, size);
    if (from === undefined) throw new BundleRefused('a piece of the bundle was not fetched');
    const hash = createHash('sha256');
    inflater.begin(await windowBefore());
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
      const known = before?.pieces.find(piece[1]);
      files.beginPiece(entries);
      if (known !== undefined && hasFiles(known) && keepFiles(piece[1])) {
        inflater.reset();
        continue;
      }
      const parts = known !== undefined && entries.place() === 'inside' ? partsIn(known) : undefined;
      if (parts !== undefined) {
        inflater.reset();
        if (!parts.every(({ size, sha256 }) => isStored(contentFile(contentFolder, sha256), size)))
          throw new BundleRefused('a stored part of a file is lost');
        files.keepParts(parts);
        passed.push(...parts);
        for (const { size } of parts) entries.skip(size);
      } else await inflate(piece, places[index] ?? 0);
      const contents = await files.endPiece(entries);
      if (known === undefined || !isDeepStrictEqual(contents, contentsIn(known))) changes.set(piece[1], contents);
    }
    if (entries.place() !== 'between') throw new BundleRefused('the archive ends in the middle of a file');
    return { added, unread, removed: leaving.difference(new Set(added.keys())), pieces: changes };
  } finally {
    inflater.reset();
    await handle.close();
  }
}

/** True if a file has this size. It asks synchronously, because a large file has thousands of parts. */
const isStored = (file: string, size: number): boolean => statSync(file, { throwIfNoEntry: false })?.size === size;

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
function incomingFiles(content: NewContent, onFile: (path: string, bytes: PartedBytes, isRead: boolean) => void) {
  let current:
    | {
        path: string;
        size: number;
        hash: Hash;
        parts: StoredBytes[];
        pending: Uint8Array[];
        bytes: number;
        /** False if some of its parts were not read. */
        isRead: boolean;
      }
    | undefined;
  let top: string | undefined;
  let begins: 'between' | 'inside' | 'elsewhere' = 'elsewhere';
  /** Paths of the files that began in this piece, and the parts that were stored in it. */
  let paths: string[] = [];
  let parts: StoredBytes[] = [];

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
        const name = path.slice(slash + 1);
        current = { path: name, size, hash: createHash('sha256'), parts: [], pending: [], bytes: 0, isRead: true };
        paths.push(name);
      },
      async bytes(bytes: Uint8Array): Promise<void> {
        if (current === undefined) return;
        if (isParted() && current.isRead) current.hash.update(bytes);
        current.pending.push(bytes);
        current.bytes += bytes.length;
        if (isParted() && current.bytes >= mostPartBytes) await cut();
      },
      async end(): Promise<void> {
        if (current === undefined) return;
        const { path, size, hash, isRead } = current;
        if (isParted()) {
          await cut();
          const stored = current.parts.reduce((sum, part) => sum + part.size, 0);
          if (stored !== size) throw new BundleRefused(`${path} ends in the middle of a part`);
          onFile(path, { size, sha256: isRead ? hash.digest('hex') : '', parts: current.parts }, isRead);
        } else onFile(path, await content.put(Buffer.concat(current.pending)), true);
        current = undefined;
      },
    },
    beginPiece(entries: TarEntries): void {
      begins = entries.place();
      paths = [];
      parts = [];
    },
    /** The bytes of this piece are these parts of the current file, and need not be stored. */
    keepParts(known: readonly StoredBytes[]): void {
      if (current === undefined || !isParted()) throw new BundleRefused('a part of a file is at a place without one');
      current.parts.push(...known);
      current.isRead = false;
      parts.push(...known);
    },
    /** The contents of the piece. */
    async endPiece(entries: TarEntries): Promise<PieceContents> {
      const ends = entries.place();
      if (isParted()) await cut();
      if (begins === 'between' && ends === 'between') return { files: paths };
      // The last piece of a file may end at the end of the file, but then the padding of its last block is in another piece.
      return begins === 'inside' && ends === 'inside' && paths.length === 0 && isParted()
        ? { parts }
        : { begins: paths };
    },
  };
}

/** Throws `BundleRefused` unless the manifest of a bundle is the one that the platform recorded. */
export async function requireManifest(
  manifest: PartedBytes | undefined,
  content: NewContent,
  sha256: string,
): Promise<void> {
  if (manifest === undefined || sha256Of(await content.read(manifest)) !== sha256)
    throw new BundleRefused('the pieces of the bundle do not have the manifest that the platform recorded');
}
