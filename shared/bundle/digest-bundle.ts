import { createHash } from 'node:crypto';
import { joinSegments, type SegmentSource } from './join-segments.ts';

/**
 * SHA-256 (64 hex digits) and size of the bundle that these segments make, for the metadata that has to be known before the upload.
 * Reads every segment once and holds none; fails as `joinSegments` does.
 */
export async function digestBundle(segments: readonly SegmentSource[]): Promise<{ sha256: string; sizeBytes: number }> {
  const digest = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of joinSegments(segments) as AsyncIterable<Uint8Array>) {
    digest.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sha256: digest.digest('hex'), sizeBytes };
}
