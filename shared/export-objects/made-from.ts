import { createHash } from 'node:crypto';

/**
 * What a closing segment was made from: SHA-256 over the SHA-256s of all other segments, in plan order. Its manifest lists their files, so
 * when one of them was rendered again to other bytes, it must be, too.
 */
export function madeFrom(segments: Iterable<{ sha256: string }>): string {
  const digest = createHash('sha256');
  for (const { sha256 } of segments) digest.update(`${sha256}\n`);
  return digest.digest('hex');
}
