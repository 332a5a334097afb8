import type { SegmentSource } from '#shared/bundle/join-segments.ts';
import { type ExportPlan, segmentKey } from '#shared/contracts/export-plan.ts';
import { inParallel } from '#shared/export-objects/in-parallel.ts';
import { madeFrom } from '#shared/export-objects/made-from.ts';
import { readSegmentDigest } from '#shared/export-objects/read-sidecar.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';

/** Number of the closing segment where chunks are numbered. */
export const closingNumber = -1;

export type SegmentSources =
  | { kind: 'complete'; sources: SegmentSource[] }
  /** Chunk numbers, or the closing segment's. */
  | { kind: 'lost'; chunks: number[]; reason: string };

const sidecarsAtOnce = 8;

/** The segments of a plan in bundle order, as their sidecars describe them. A closing segment that was made from others counts as lost. */
export async function segmentSources(objectStore: ObjectStore, plan: ExportPlan): Promise<SegmentSources> {
  const keys = [...plan.chunks.map(({ key }) => key), plan.closingKey];
  const digests = await inParallel(keys, sidecarsAtOnce, (key) =>
    readSegmentDigest(objectStore, plan.organization, key),
  );
  const missing = [...keys.keys()].filter((index) => digests[index] === undefined);
  if (missing.length > 0) {
    const chunks = missing.map((index) => numberOf(plan, index));
    return { kind: 'lost', chunks, reason: 'their sidecars are missing or damaged' };
  }
  const found = digests.flatMap((digest) => digest ?? []);
  if (found.at(-1)?.madeFrom !== madeFrom(found.slice(0, -1))) {
    return { kind: 'lost', chunks: [closingNumber], reason: 'its manifest lists files of other segments' };
  }
  const sources = found.map(({ sha256, crc32, rawLength, sizeBytes }, index) => {
    const key = segmentKey(plan.organization, keys[index] ?? '');
    return { key, sha256, crc32, rawLength, sizeBytes, open: () => objectStore.getStream(key) };
  });
  return { kind: 'complete', sources };
}

/** Number of the segment at this place of the bundle. */
export function numberOf(plan: ExportPlan, index: number): number {
  return index < plan.chunks.length ? index : closingNumber;
}
