import { buffer } from 'node:stream/consumers';
import type { SegmentSummary } from './segment-summary.ts';
import { segmentWriter } from './segment-writer.ts';

/** A file to pack: its path in the archive (with the top folder) and its bytes. */
export type FileToPack = { path: string; body: Uint8Array };

/** Packs files into one segment in memory: for chunks, which are a few hundred kilobytes. Rejects as `segmentWriter` does. */
export async function packSegment(
  files: Iterable<FileToPack> | AsyncIterable<FileToPack>,
): Promise<SegmentSummary & { bytes: Buffer }> {
  const writer = segmentWriter();
  const bytes = buffer(writer.output);
  bytes.catch(() => {}); // The cause is what `add` or `finish` throws.
  try {
    for await (const file of files) await writer.add(file.path, file.body);
    const summary = await writer.finish();
    return { ...summary, bytes: await bytes };
  } catch (error) {
    writer.output.destroy();
    throw error;
  }
}
