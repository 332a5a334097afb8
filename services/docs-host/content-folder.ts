import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { link, mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { readWhole } from './read-whole.ts';

/*
 * All versions of a site keep their bytes in one folder, each file under its SHA-256. Versions with the same file share it: a new version writes what
 * changed and its list, and nothing of the other files. A file is removed when no list names it.
 */

/** Size and SHA-256 of stored bytes. */
export type StoredBytes = { size: number; sha256: string };

/** Bytes that may be stored in several files, one part in each. */
export type PartedBytes = StoredBytes & { parts?: readonly StoredBytes[] | undefined };

/** Path of the bytes with this SHA-256. */
export const contentFile = (content: string, sha256: string): string => join(content, sha256.slice(0, 2), sha256);

/** The stored files of these bytes, in order. */
const filesOf = ({ parts, size, sha256 }: PartedBytes): readonly StoredBytes[] => parts ?? [{ size, sha256 }];

/** The bytes from `start` to `end`, which is included; all of them by default. The stream fails with the error of the file system. */
export function readContent(
  content: string,
  bytes: PartedBytes,
  { start, end }: { start: number; end: number } = { start: 0, end: bytes.size - 1 },
): Readable {
  const [only, ...more] = filesOf(bytes);
  if (only !== undefined && more.length === 0 && bytes.size > 0)
    return createReadStream(contentFile(content, only.sha256), { start, end });
  return Readable.from(readParts(content, filesOf(bytes), start, end), { objectMode: false });
}

async function* readParts(content: string, parts: readonly StoredBytes[], start: number, end: number) {
  let at = 0;
  for (const { size, sha256 } of parts) {
    const from = Math.max(0, start - at);
    const to = Math.min(size - 1, end - at);
    at += size;
    if (from <= to) yield* createReadStream(contentFile(content, sha256), { start: from, end: to });
  }
}

const readAtOnce = 8;
/** Error codes of file systems that have no hard links, or allow no more for this file. */
const noLinks: ReadonlySet<string> = new Set(['EPERM', 'EMLINK', 'EXDEV', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

export type NewContent = ReturnType<typeof newContent>;

/**
 * Bytes of a version that is being prepared. They stay in `folder` until `commit` moves them into `content`, so nothing is left of a version that is
 * refused. Bytes that are in `content` already and intact are not written again.
 */
export function newContent(content: string, folder: string) {
  const fresh = join(folder, 'new');
  const written = new Set<string>();
  let files = 0;
  let hasFresh = false;

  function makeFresh(): void {
    if (!hasFresh) mkdirSync(fresh, { recursive: true });
    hasFresh = true;
  }

  /** Path of bytes that are stored, or will be after `commit`. */
  const pathOf = (sha256: string): string => (written.has(sha256) ? join(fresh, sha256) : contentFile(content, sha256));

  return {
    /** Removes the files of an interrupted attempt. */
    async begin(): Promise<void> {
      written.clear();
      hasFresh = false;
      await rm(fresh, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
    },
    pathOf,
    /** The bytes of a file that is stored, or will be after `commit`. */
    read: async (bytes: PartedBytes): Promise<Buffer> =>
      Buffer.concat(
        await inParallel(filesOf(bytes), readAtOnce, ({ size, sha256 }) => readWhole(pathOf(sha256), size)),
      ),
    /** True if all of these files exist with their sizes. */
    async has(files: readonly StoredBytes[]): Promise<boolean> {
      const found = await Promise.all(files.map(({ size, sha256 }) => hasSize(pathOf(sha256), size)));
      return found.every(Boolean);
    },
    /**
     * Stores bytes. `known`: SHA-256 of bytes that are stored already, and are not read again. It reads and writes synchronously, because a version has
     * thousands of small files, and passing a call to another thread and back costs as much as the file.
     */
    async put(bytes: Uint8Array, known?: string): Promise<StoredBytes> {
      const stored = { size: bytes.length, sha256: sha256Of(bytes) };
      const { size, sha256 } = stored;
      if (written.has(sha256)) return stored;
      const file = contentFile(content, sha256);
      const isThere = known === sha256 ? await hasSize(file, size) : readStored(file, size)?.equals(bytes) === true;
      if (isThere) return stored;
      makeFresh();
      writeFileSync(join(fresh, sha256), bytes);
      written.add(sha256);
      return stored;
    },
    /** Stores bytes that are too large for memory. */
    async putStream(body: Readable): Promise<StoredBytes> {
      makeFresh();
      files += 1;
      const file = join(fresh, `stream-${files}`);
      const hash = createHash('sha256');
      let size = 0;
      const meter = new Transform({
        transform(chunk: Uint8Array, _encoding, done) {
          hash.update(chunk);
          size += chunk.length;
          done(null, chunk);
        },
      });
      await pipeline(body, meter, createWriteStream(file));
      const sha256 = hash.digest('hex');
      await rename(file, join(fresh, sha256));
      written.add(sha256);
      return { size, sha256 };
    },
    /** Stores a file whose SHA-256 is known by a link to it. False if the file system has no links. */
    async putLink(file: string, stored: StoredBytes): Promise<boolean> {
      const { size, sha256 } = stored;
      if (written.has(sha256)) return true;
      const there = readStored(contentFile(content, sha256), size);
      if (there !== undefined && sha256Of(there) === sha256) return true;
      makeFresh();
      try {
        await link(file, join(fresh, sha256));
      } catch (error) {
        if (noLinks.has(errorCode(error) ?? '')) return false;
        throw error;
      }
      written.add(sha256);
      return true;
    },
    /** Moves all bytes into the folder of the site. */
    async commit(): Promise<void> {
      const folders = new Set([...written].map((sha256) => sha256.slice(0, 2)));
      for (const name of folders) mkdirSync(join(content, name), { recursive: true });
      for (const sha256 of written) renameSync(join(fresh, sha256), contentFile(content, sha256));
      written.clear();
      hasFresh = false;
      await rm(fresh, { recursive: true, force: true });
    },
  };
}

async function hasSize(file: string, size: number): Promise<boolean> {
  try {
    return (await stat(file)).size === size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** The bytes of a file with this size; undefined if there is none. */
function readStored(file: string, size: number): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    return bytes.length === size ? bytes : undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
