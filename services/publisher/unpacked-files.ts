import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Misfit } from '#shared/docs/sandbox/frames.ts';
import { archivePathProblem } from '#shared/export/bundle/archive-names.ts';

/** A file whose bytes were all sent. */
export type UnpackedFile = { path: string; sizeBytes: number };

/** A file of an arriving project. `offset`: its start among the bytes of its project. */
export type ReceivedFile = UnpackedFile & { sha256: string; offset: number };

/** Batch limits of the child: the bytes before the chunk that crosses the limit, and the files. */
export const mostBytes = 512 * 1024;
export const mostFiles = 2_000;
const mostBytesInQuestion = 16 * 1024 * 1024;

/**
 * The questions of the child to its parent: the next part of the archive (bytes, or null at its end), or to keep unpacked files. `bytes` belong to
 * the files in order; a file is named with its last bytes.
 */
export const unpackQuestion = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('more') }),
  z.strictObject({
    kind: z.literal('keep'),
    files: z.array(z.strictObject({ path: z.string(), sizeBytes: z.int().min(0) })).max(mostFiles),
    bytes: z.instanceof(Uint8Array).refine(({ length }) => length <= mostBytesInQuestion),
  }),
]);

export type UnpackQuestion = z.infer<typeof unpackQuestion>;

/**
 * The files of an archive as a child unpacks them. The child reads a tenant's bytes, so its claims are not trusted: the hashes, under which files are
 * stored for all projects of their organization, are computed here, and the names are checked again.
 */
export function unpackedFiles(most: { unpackedBytes: number; entries: number }) {
  const files: ReceivedFile[] = [];
  const paths = new Set<string>();
  let hash = createHash('sha256');
  /** Number of received bytes of the unfinished file. */
  let begun = 0;
  /** Offset of the unfinished file in the bytes of all files. */
  let offset = 0;
  /** Number of received bytes. */
  let taken = 0;
  let written = 0;

  return {
    /** Adds unpacked files and their bytes. Throws `Misfit` if they break a limit or do not match. */
    take(unpacked: readonly UnpackedFile[], bytes: Uint8Array): void {
      if (taken + bytes.length > most.unpackedBytes || files.length + unpacked.length > most.entries) {
        throw new Misfit('it sent more files or bytes than an archive may have');
      }
      let at = 0;
      const hashNext = (length: number): void => {
        hash.update(bytes.subarray(at, at + length));
        at += length;
        begun += length;
        taken += length;
      };
      for (const { path, sizeBytes } of unpacked) {
        if (archivePathProblem(path) !== undefined || paths.has(path))
          throw new Misfit('it named a file with a path that is invalid or taken');
        const missing = sizeBytes - begun;
        if (missing < 0 || missing > bytes.length - at) throw new Misfit('it gave a file another size than it has');
        hashNext(missing);
        paths.add(path);
        files.push({ path, sizeBytes, sha256: hash.digest('hex'), offset });
        hash = createHash('sha256');
        begun = 0;
        offset += sizeBytes;
      }
      hashNext(bytes.length - at);
    },
    /** Number of bytes that are on disk. */
    written: () => written,
    wrote(bytes: Uint8Array): void {
      written += bytes.length;
    },
    /** Files whose bytes have all been received and written so far. */
    complete: () => files.filter((file) => file.offset + file.sizeBytes <= written),
    /** All files, after the child has ended successfully. Throws if bytes belong to no file. */
    all(): ReceivedFile[] {
      if (offset !== taken) throw new Misfit('it gave bytes that belong to no file');
      return files;
    },
  };
}
