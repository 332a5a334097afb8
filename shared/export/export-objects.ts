import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  type ExportPlan,
  exportPlanSchema,
  planKey,
  type SegmentDigest,
  segmentDigestSchema,
  segmentKey,
  type SegmentSidecar,
  segmentSidecarSchema,
  sidecarKey,
} from '#shared/contracts/stored-objects.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { DamagedObject, type ObjectStore, unlessDamaged } from '#shared/storage/object-store.ts';
import { BrokenObject, getJson } from '#shared/storage/stored-json.ts';
import { hasRightSum, hasSum, sidecarJson, sidecarParts } from './bundle/packed-segment.ts';

/** The export plan with this hash. Rejects if there is none, or with `ObjectStoreUnavailable`. */
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

/** Reads the sidecar of a segment. Undefined if it has no readable one: then the segment must be rendered. */
export const readSidecar = sidecarReader<SegmentSidecar>(segmentSidecarSchema);
/** Callers keep the digests of thousands of segments, so only these fields of a sidecar stay in memory. */
export const readSegmentDigest = sidecarReader<SegmentDigest>(z.object(segmentDigestSchema.shape));

/** Largest JSON of a sidecar that is read beside others. Orchestrator and bundlers read up to 16 sidecars at once, and one may have 32 MB. */
const largeBytes = 1024 * 1024;
/** Limit of the JSON of a sidecar. Renderers store no larger ones. */
const mostBytes = 64 * 1024 * 1024;
const largeReads = turns();

function sidecarReader<T>(schema: z.ZodType<T>) {
  return async (objectStore: ObjectStore, organization: string, key: string): Promise<T | undefined> => {
    let turn: Promise<() => void> | undefined;
    const get: ObjectStore['get'] = async (...asked) => {
      const stored = await objectStore.getStream(...asked);
      return (
        stored &&
        (await sidecarJson(key, stored, async (kept) => {
          if (kept > mostBytes)
            throw new DamagedObject(`the sidecar of ${key} has more than ${mostBytes} bytes of JSON`);
          if (kept > largeBytes) await (turn ??= largeReads());
        }))
      );
    };
    try {
      return await getJson({ get }, sidecarKey(organization, key), schema);
    } catch (error) {
      if (error instanceof BrokenObject) return undefined;
      throw error;
    } finally {
      (await turn)?.();
    }
  };
}

/** Gives turns one after the other. Each call resolves with the function that ends its turn. */
function turns(): () => Promise<() => void> {
  let last = Promise.resolve();
  return async () => {
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    return resolve;
  };
}

/** The parts of a sidecar that are checked whenever it is read. The facts of its pages were checked when it was stored. */
const knownSidecarSchema = z.looseObject(
  segmentDigestSchema.extend(segmentSidecarSchema.pick({ files: true, texts: true }).shape).shape,
) as unknown as z.ZodType<SegmentSidecar>;

export type WholeSidecar = { sidecar: SegmentSidecar; jsonBytes: number; behind: Uint8Array; behindAt: number };

/**
 * The sidecar, the size of its JSON, the bytes of the texts after it, for `readTexts`, and the place where these begin in the object. Undefined if
 * there is no readable sidecar.
 */
export async function readWholeSidecar(
  objectStore: ObjectStore,
  organization: string,
  key: string,
): Promise<WholeSidecar | undefined> {
  const stored = await unlessDamaged(objectStore.get(sidecarKey(organization, key)));
  if (stored === undefined || !hasRightSum(key, stored)) return undefined;
  const { json, behind } = sidecarParts(stored);
  // Without a checksum, the bytes may differ from those that were checked when they were stored.
  const schema = hasSum(stored) ? knownSidecarSchema : segmentSidecarSchema;
  const sidecar = schema.safeParse(jsonIn(new TextDecoder().decode(json)));
  if (!sidecar.success) return undefined;
  return { sidecar: sidecar.data, jsonBytes: json.length, behind, behindAt: stored.length - behind.length };
}

/** The result of `read` for the sidecar of a stored segment, which then need not be rendered. Undefined if the segment is missing or incomplete. */
export async function storedSegment<T extends { sizeBytes: number }>(
  objectStore: ObjectStore,
  organization: string,
  key: string,
  read: (objectStore: ObjectStore, organization: string, key: string) => Promise<T | undefined>,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const sidecar = await read(objectStore, organization, key);
  if (sidecar === undefined) return undefined;
  const looking = objectStore.head(segmentKey(organization, key), signal === undefined ? {} : { signal });
  const segment = await unlessDamaged(looking);
  return segment?.sizeBytes === sidecar.sizeBytes ? sidecar : undefined;
}

/**
 * Identifies the input of a closing segment: SHA-256 over the SHA-256s of all other segments, in plan order. Its manifest lists their files, so it
 * must be rendered again when one of them has changed.
 */
export function segmentsDigest(segments: Iterable<{ sha256: string }>): string {
  const digest = createHash('sha256');
  for (const { sha256 } of segments) digest.update(`${sha256}\n`);
  return digest.digest('hex');
}
