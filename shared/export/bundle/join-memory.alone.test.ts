import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { joinedBundle } from './join-segments.ts';
import { packSegment } from './segment-writer.ts';

const MiB = 1024 * 1024;
/** Header and trailer of gzip, and the end of the tar archive in a separate block. */
const framingBytes = 10 + 8 + 5 + 1024;

test('joining 300 MB of segments takes memory of a few chunks', async () => {
  const chunk = Buffer.allocUnsafe(64 * 1024);
  for (let at = 0; at < chunk.length; at++) chunk[at] = (at * 2_654_435_761) >>> 13;
  const body = Buffer.concat(
    Array.from({ length: 8 }, (_, turn) => chunk.map((byte) => byte ^ (turn * 31 + (byte >> 3)))),
  );
  const { bytes, ...summary } = await packSegment([{ path: 'acme/block', body }]);
  const perSegment = Math.ceil((300 * MiB) / bytes.length);
  let peak = 0;
  const segments = Array.from({ length: perSegment }, (_, index) => ({
    ...summary,
    key: String(index),
    // Allocates new memory for every segment, so that retained memory would add up.
    open: async () => {
      peak = Math.max(peak, process.memoryUsage().rss);
      return Readable.from([Buffer.from(bytes)]);
    },
  }));
  await joinedBundle(segments.slice(0, 50)).sha256();
  const before = process.memoryUsage().rss;
  peak = before;
  const bundle = joinedBundle(segments);
  await bundle.sha256();
  const { sizeBytes } = bundle;
  expect(sizeBytes).toBeGreaterThanOrEqual(300 * MiB);
  expect(sizeBytes).toBe(perSegment * bytes.length + framingBytes);
  expect((peak - before) / MiB).toBeLessThan(150);
});
