import type { Readable } from 'node:stream';
import {
  type FileToPack,
  packSegment,
  type SegmentSummary,
  type SegmentWriter,
  segmentWriter,
} from './segment-writer.ts';

/*
 * This file decides the order and names of the files in an export's segments. It is in this folder because the renderer version is computed from it:
 * a change here changes bundles.
 */

/** Path in the archive of a file of an export. The domain is the only top folder. */
export const archivePath = (domain: string, path: string): string => `${domain}/${path}`;

/** Packs rendered files in memory, in the order in which they were rendered. */
export function packRendered(
  domain: string,
  files: readonly FileToPack[],
): Promise<SegmentSummary & { bytes: Buffer }> {
  return packSegment(files.map(({ path, body }) => ({ path: archivePath(domain, path), body })));
}

/** A published file of the project, or the bytes that replace it. */
export type StoredFile = { path: string; sha256: string; sizeBytes: number; body?: Uint8Array };

/**
 * Copies files of the project into a segment, in the order of the plan, with the memory of a few blocks. `open` returns the bytes of a file, and
 * `upload` receives those of the segment. Rejects if a file is missing or damaged, and with the reason of `upload` if that failed first.
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
 * Packs the files that `fill` adds, while `upload` receives the bytes of the segment, with the memory of a few blocks. Rejects with the error of
 * `fill`, or with the reason of `upload` if that failed first. `options`: those of the writer.
 */
export async function packTo(
  upload: (segment: Readable, pieces: SegmentWriter['pieces']) => Promise<void>,
  fill: (writer: SegmentWriter) => Promise<void>,
  options?: Parameters<typeof segmentWriter>[0],
): Promise<SegmentSummary> {
  const writer = segmentWriter(options);
  let uploadError: unknown;
  const uploaded = upload(writer.output, writer.pieces).catch((error: unknown) => {
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
    // If the upload failed first, its error is the cause. It may have destroyed the stream before it rejects.
    const failedFirst = uploadError !== undefined || writer.output.destroyed;
    writer.output.destroy();
    await uploaded;
    throw failedFirst ? (uploadError ?? error) : error;
  }
}
