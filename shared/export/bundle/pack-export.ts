import type { Readable } from 'node:stream';
import {
  type FileToPack,
  packSegment,
  type SegmentSummary,
  type SegmentWriter,
  segmentWriter,
} from './segment-writer.ts';

/*
 * Which files a segment of an export has, in which order and under which names. It belongs to this folder because the renderer version is
 * made from it: a change here changes bundles.
 */

/** Path in the archive of a file of an export: the domain is the one top folder. */
export const archivePath = (domain: string, path: string): string => `${domain}/${path}`;

/** Packs rendered files in memory, in the order in which they were rendered. */
export function packRendered(
  domain: string,
  files: readonly FileToPack[],
): Promise<SegmentSummary & { bytes: Buffer }> {
  return packSegment(files.map(({ path, body }) => ({ path: archivePath(domain, path), body })));
}

/** A file of the project as it was published, or with the bytes that take its place. */
export type StoredFile = { path: string; sha256: string; sizeBytes: number; body?: Uint8Array };

/**
 * Copies files of the project into a segment, in the order of the plan and in the memory of a few blocks. `open` gives the bytes of a file,
 * `upload` takes those of the segment. Rejects when a file is gone or damaged, and with the reason of `upload` when that failed first.
 */
export async function packStored(
  domain: string,
  files: readonly StoredFile[],
  open: (file: StoredFile) => Promise<Readable | undefined>,
  upload: (segment: Readable) => Promise<void>,
): Promise<SegmentSummary> {
  return packTo(upload, async (writer) => {
    for (const file of files) {
      const { path, sha256, sizeBytes } = file;
      if (file.body !== undefined) {
        await writer.add(archivePath(domain, path), file.body);
        continue;
      }
      const body = await open(file);
      if (body === undefined) throw new Error(`the file ${path} of the content version is gone`);
      try {
        const added = await writer.addStream(archivePath(domain, path), sizeBytes, body);
        if (added !== sha256) throw new Error(`the stored file ${path} of the content version is damaged`);
      } finally {
        body.destroy();
      }
    }
  });
}

/**
 * Packs what `fill` adds, while `upload` takes the bytes of the segment: in the memory of a few blocks. Rejects with what `fill` throws, or
 * with the reason of `upload` when that failed first.
 */
export async function packTo(
  upload: (segment: Readable) => Promise<void>,
  fill: (writer: SegmentWriter) => Promise<void>,
): Promise<SegmentSummary> {
  const writer = segmentWriter();
  let uploadError: unknown;
  const uploaded = upload(writer.output).catch((error: unknown) => {
    uploadError = error;
    writer.output.destroy();
  });
  try {
    await fill(writer);
    const summary = await writer.finish();
    await uploaded;
    if (uploadError !== undefined) throw uploadError;
    return summary;
  } catch (error) {
    // When the upload failed first, that is the reason. It may have ended the stream and not said why yet.
    const failedFirst = uploadError !== undefined || writer.output.destroyed;
    writer.output.destroy();
    await uploaded;
    throw failedFirst ? (uploadError ?? error) : error;
  }
}
