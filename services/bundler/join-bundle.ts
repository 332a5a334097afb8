import { Readable } from 'node:stream';
import { digestBundle } from '#shared/bundle/digest-bundle.ts';
import { joinSegments, type SegmentSource } from '#shared/bundle/join-segments.ts';
import { SegmentDamaged } from '#shared/bundle/segment-damaged.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { bundleKey, type ExportPlan, sidecarKey } from '#shared/contracts/export-plan.ts';
import { crashPoint } from '#shared/lifecycle/crash-point.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import { isReusable } from '#shared/object-store/reusable.ts';
import { closingNumber, numberOf, segmentSources } from './segment-sources.ts';

export type JoinOutcome =
  | { kind: 'joined'; bundleKey: string; sizeBytes: number; sha256: string }
  | { kind: 'lost'; chunks: number[]; reason: string };

/**
 * Checks every segment of a plan, then stores the bundle, unless these very bytes were stored lately; in the memory of a few blocks. A
 * segment that is not what its sidecar says loses the sidecar: whoever renders it again must not take it for done. Rejects with
 * `ObjectStoreUnavailable` when it should be tried again.
 */
export async function joinBundle(
  objectStore: ObjectStore,
  plan: ExportPlan,
  planHash: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<JoinOutcome> {
  const found = await segmentSources(objectStore, plan);
  if (found.kind === 'lost') {
    if (found.chunks.includes(closingNumber)) await forget(objectStore, plan, plan.closingKey);
    return found;
  }
  try {
    const { sha256, sizeBytes } = await digestBundle(found.sources);
    const key = bundleKey(plan.organization, plan.domain, planHash);
    const head = await objectStore.head(key, { signal });
    const isSame = head?.metadata.sha256 === sha256 && head.sizeBytes === sizeBytes;
    if (!isSame || !isReusable(head, clock)) {
      await objectStore.putStream(key, bundleStream(found.sources, sizeBytes), {
        contentType: 'application/gzip',
        metadata: { sha256 },
        signal,
      });
    }
    crashPoint('after-upload', 'bundler');
    return { kind: 'joined', bundleKey: key, sizeBytes, sha256 };
  } catch (error) {
    if (!(error instanceof SegmentDamaged)) throw error;
    const number = numberOf(plan, error.index);
    await forget(objectStore, plan, plan.chunks[number]?.key ?? plan.closingKey);
    return { kind: 'lost', chunks: [number], reason: error.message };
  }
}

function forget(objectStore: ObjectStore, plan: ExportPlan, key: string): Promise<void> {
  return objectStore.remove(sidecarKey(plan.organization, key));
}

function bundleStream(sources: readonly SegmentSource[], sizeBytes: number): Readable {
  return Readable.from(withCrashPoint(joinSegments(sources), sizeBytes / 2), { objectMode: false });
}

async function* withCrashPoint(bytes: Readable, after: number): AsyncGenerator<Uint8Array> {
  let passed = 0;
  for await (const chunk of bytes as AsyncIterable<Uint8Array>) {
    const before = passed;
    passed += chunk.length;
    yield chunk;
    if (before <= after && passed > after) crashPoint('mid-upload', 'bundler');
  }
}
