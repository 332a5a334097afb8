import { createHash } from 'node:crypto';
import type { z } from 'zod';
import {
  type ExportPlan,
  exportPlanSchema,
  type PageText,
  planKey,
  type SegmentSidecar,
  segmentSidecarSchema,
  sidecarKey,
} from '#shared/contracts/stored-objects.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { BrokenObject, getJson } from '#shared/storage/stored-json.ts';

/** The export plan of that hash. Rejects when there is none, or with `ObjectStoreUnavailable`. */
export async function readPlan(
  objectStore: ObjectStore,
  organization: string,
  planHash: string,
  signal?: AbortSignal,
): Promise<ExportPlan> {
  const key = planKey(organization, planHash);
  const plan = await getJson(objectStore, key, exportPlanSchema, signal === undefined ? {} : { signal });
  if (plan === undefined) throw new Error(`the export plan ${key} is gone`);
  return plan;
}

/** The part of a sidecar that joining needs. */
const segmentDigestSchema = segmentSidecarSchema.pick({
  version: true,
  sha256: true,
  crc32: true,
  rawLength: true,
  sizeBytes: true,
  madeFrom: true,
});

export type SegmentDigest = z.infer<typeof segmentDigestSchema>;

/** Undefined when the segment has no sidecar that can be read: then it must be rendered. */
export const readSidecar = sidecarReader<SegmentSidecar>(segmentSidecarSchema);
export const readSegmentDigest = sidecarReader<SegmentDigest>(segmentDigestSchema);

function sidecarReader<T>(schema: z.ZodType<T>) {
  return async (objectStore: ObjectStore, organization: string, key: string): Promise<T | undefined> => {
    try {
      const get: ObjectStore['get'] = async (...asked) => {
        const stored = await objectStore.get(...asked);
        return stored?.subarray(0, firstLineOf(stored));
      };
      return await getJson({ get }, sidecarKey(organization, key), schema);
    } catch (error) {
      if (error instanceof BrokenObject) return undefined;
      throw error;
    }
  };
}

/** The texts of a sidecar's pages, as they are stored: see `pageTexts`. Undefined when there is no such sidecar. */
export async function readSidecarTexts(
  objectStore: ObjectStore,
  organization: string,
  key: string,
): Promise<Uint8Array | undefined> {
  const stored = await objectStore.get(sidecarKey(organization, key));
  return stored?.subarray(firstLineOf(stored) + 1);
}

function firstLineOf(stored: Uint8Array): number {
  const end = stored.indexOf(0x0a);
  return end < 0 ? stored.length : end;
}

/** What is stored of a sidecar: its first line, and a line for the text of each page. */
export function sidecarBytes(sidecar: SegmentSidecar, texts: readonly PageText[]): Buffer {
  return Buffer.from([sidecar, ...texts].map((line) => JSON.stringify(line)).join('\n'));
}

/**
 * What a closing segment was made from: SHA-256 over the SHA-256s of all other segments, in plan order. Its manifest lists their files, so
 * it must be rendered again when one of them has other bytes than before.
 */
export function segmentsDigest(segments: Iterable<{ sha256: string }>): string {
  const digest = createHash('sha256');
  for (const { sha256 } of segments) digest.update(`${sha256}\n`);
  return digest.digest('hex');
}
