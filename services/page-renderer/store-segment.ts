import { blobKey, segmentKey, type SegmentSidecar, sidecarKey } from '#shared/contracts/stored-objects.ts';
import { packStored, type StoredFile } from '#shared/export/bundle/pack-export.ts';
import { type PackedSegment, sidecarBytes, sidecarOf, withSum } from '#shared/export/bundle/packed-segment.ts';
import type { SegmentSummary } from '#shared/export/bundle/segment-writer.ts';
import { storedSegment } from '#shared/export/export-objects.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { RendererContext } from './context.ts';

/** Names a segment. `domain` is the top folder of its files. */
export type SegmentPlace = { organization: string; domain: string; key: string };

type StoreContext = Pick<RendererContext, 'objectStore' | 'retry'>;

/** Stores a segment, then its sidecar, so that a sidecar implies its segment. */
export async function storeSegment(
  context: StoreContext,
  place: SegmentPlace,
  { segment, sidecar }: PackedSegment,
  signal: AbortSignal,
): Promise<void> {
  await retryUnavailable(context.retry, signal, () =>
    context.objectStore.put(segmentKey(place.organization, place.key), segment, { signal }),
  );
  await putSidecar(context, place, sidecar, signal);
}

/** Copies files of the project into a segment, in the memory of a few blocks. Rejects when one is gone or damaged. */
export async function storeAssets(
  context: StoreContext,
  place: SegmentPlace,
  files: readonly StoredFile[],
  signal: AbortSignal,
): Promise<void> {
  const { organization, domain, key } = place;
  const { objectStore } = context;
  const summary = await retryUnavailable(context.retry, signal, () =>
    packStored(
      domain,
      files,
      ({ sha256 }) => objectStore.getStream(blobKey(organization, sha256), { signal }),
      (segment) => objectStore.putStream(segmentKey(organization, key), segment, { signal }),
    ),
  );
  await storeSidecar(context, place, summary, signal);
}

/** Stores the sidecar of a segment without pages, which is stored already. */
export async function storeSidecar(
  context: StoreContext,
  place: SegmentPlace,
  details: SegmentSummary & Partial<SegmentSidecar>,
  signal: AbortSignal,
): Promise<SegmentSidecar> {
  const sidecar = sidecarOf(details);
  await putSidecar(context, place, await sidecarBytes(sidecar, []), signal);
  return sidecar;
}

async function putSidecar(
  { objectStore, retry }: StoreContext,
  { organization, key }: SegmentPlace,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  crashPoint('after-segment-put', 'page-renderer');
  const stored = withSum(key, body);
  await retryUnavailable(retry, signal, () =>
    objectStore.put(sidecarKey(organization, key), stored, { contentType: 'application/json', signal }),
  );
  crashPoint('after-sidecar-put', 'page-renderer');
}

/** The parts of a sidecar that `read` returns, if its segment is stored already and need not be rendered. */
export function existingSegment<T extends { sizeBytes: number }>(
  { objectStore, retry }: StoreContext,
  organization: string,
  key: string,
  signal: AbortSignal,
  read: (objectStore: ObjectStore, organization: string, key: string) => Promise<T | undefined>,
): Promise<T | undefined> {
  return retryUnavailable(retry, signal, () => storedSegment(objectStore, organization, key, read, signal));
}
