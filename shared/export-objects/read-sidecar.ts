import type { z } from 'zod';
import { sidecarKey } from '#shared/contracts/export-plan.ts';
import { type SegmentSidecar, segmentSidecarSchema } from '#shared/contracts/segment-sidecar.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';

/** The part of a sidecar that joining needs. */
export const segmentDigestSchema = segmentSidecarSchema.pick({
  version: true,
  sha256: true,
  crc32: true,
  rawLength: true,
  sizeBytes: true,
  madeFrom: true,
});

export type SegmentDigest = z.infer<typeof segmentDigestSchema>;

/** Undefined when there is no sidecar of that segment, or one that cannot be read: then the segment has to be rendered. */
export function readSidecar(
  objectStore: ObjectStore,
  organization: string,
  key: string,
): Promise<SegmentSidecar | undefined> {
  return read(objectStore, organization, key, segmentSidecarSchema);
}

export function readSegmentDigest(
  objectStore: ObjectStore,
  organization: string,
  key: string,
): Promise<SegmentDigest | undefined> {
  return read(objectStore, organization, key, segmentDigestSchema);
}

async function read<T>(
  objectStore: ObjectStore,
  organization: string,
  key: string,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  const stored = await objectStore.get(sidecarKey(organization, key));
  if (stored === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(Buffer.from(stored).toString()));
  } catch {
    return undefined;
  }
}
