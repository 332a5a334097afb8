import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { deflateWhole } from '#shared/export/bundle/deflated-bytes.ts';
import { joinedBundle, type SegmentSource } from '#shared/export/bundle/join-segments.ts';
import { packSegment, segmentWriter } from '#shared/export/bundle/segment-writer.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { bytesOfParts } from '#shared/storage/object-store.ts';

/** A bundle that is made of pieces, like a bundle of the platform. */
export type PiecedBundle = { bundle: Buffer; pieces: readonly [number, string][]; manifestSha256: string };

const filesOfSegment = 4;
const isLarge = (text: string): boolean => text.length > 1024 * 1024;

/**
 * Packs files, by their paths in the archive: small ones in segments of a few files, and the last segment with large ones, whose lines are pieces of their
 * own, and the manifest.
 */
export async function piecedBundle(files: Readonly<Record<string, string>>): Promise<PiecedBundle> {
  const isManifest = (path: string) => path.endsWith('/_bindery/manifest.json');
  const all = Object.entries(files);
  const small = all.filter(([path, text]) => !isLarge(text) && !isManifest(path));
  const segments: SegmentSource[] = [];
  for (let at = 0; at < small.length; at += filesOfSegment) {
    const packed = small.slice(at, at + filesOfSegment).map(([path, body]) => ({ path, body }));
    const { bytes, ...summary } = await packSegment(packed);
    segments.push({ ...summary, key: `segment ${at}`, open: async () => bytes });
  }
  const writer = segmentWriter({ withPieces: true });
  const packed = buffer(writer.output);
  for (const [path, text] of all.filter(([name, each]) => isLarge(each) && !isManifest(name)))
    await writer.addStream(path, Buffer.byteLength(text), deflatedLines(text));
  for (const [path, text] of all.filter(([name]) => isManifest(name))) await writer.add(path, Buffer.from(text));
  const closing = await writer.finish();
  const bytes = await packed;
  const openRange = async (start: number, end: number) => Readable.from([bytes.subarray(start, end)]);
  segments.push({ ...closing, key: 'closing', open: async () => bytes, openRange });
  const joined = joinedBundle(segments);
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytesOfParts(joined.parts)) chunks.push(chunk);
  const manifest = all.find(([path]) => isManifest(path))?.[1] ?? '';
  return {
    bundle: Buffer.concat(chunks),
    pieces: joined.pieces.map(([size, sha256]) => [size, sha256]),
    manifestSha256: sha256Of(manifest),
  };
}

async function* deflatedLines(text: string) {
  for (const line of text.split(/(?<=\n)/)) {
    const raw = Buffer.from(line);
    yield { raw, deflated: await deflateWhole(raw), crc32: crc32(raw) };
  }
}
