import { createHash } from 'node:crypto';
import type { z } from 'zod';
import {
  type ExportPlan,
  exportPlanSchema,
  planKey,
  type SegmentSidecar,
  segmentSidecarSchema,
  sidecarKey,
} from '#shared/contracts/stored-objects.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

/** The export plan of that hash. Rejects when there is none, or with `ObjectStoreUnavailable`. */
export async function readPlan(
  objectStore: ObjectStore,
  organization: string,
  planHash: string,
  signal?: AbortSignal,
): Promise<ExportPlan> {
  const key = planKey(organization, planHash);
  const stored = await objectStore.get(key, signal === undefined ? {} : { signal });
  if (stored === undefined) throw new Error(`the export plan ${key} is gone`);
  return exportPlanSchema.parse(JSON.parse(Buffer.from(stored).toString()));
}

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

/**
 * What a closing segment was made from: SHA-256 over the SHA-256s of all other segments, in plan order. Its manifest lists their files, so
 * when one of them was rendered again to other bytes, it must be, too.
 */
export function madeFrom(segments: Iterable<{ sha256: string }>): string {
  const digest = createHash('sha256');
  for (const { sha256 } of segments) digest.update(`${sha256}\n`);
  return digest.digest('hex');
}
