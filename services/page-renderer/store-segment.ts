import {
  blobKey,
  type PageText,
  type RenderedPage,
  segmentKey,
  type SegmentSidecar,
  sidecarKey,
} from '#shared/contracts/stored-objects.ts';
import type { RenderedFile } from '#shared/docs/render/bundle-paths.ts';
import { packRendered, packStored, type StoredFile } from '#shared/export/bundle/pack-export.ts';
import { sidecarBytes } from '#shared/export/export-objects.ts';
import type { SegmentSummary } from '#shared/export/bundle/segment-writer.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { RendererContext } from './context.ts';

/** Names a segment. `domain` is the top folder of its files. */
export type SegmentPlace = { organization: string; domain: string; key: string };

type StoreContext = Pick<RendererContext, 'objectStore' | 'retry'>;

/** Packs rendered files and stores them. The sidecar is stored after the segment: when there is a sidecar, there is a segment. */
export async function storeSegment(
  context: StoreContext,
  place: SegmentPlace,
  files: readonly RenderedFile[],
  pages: readonly RenderedPage[],
  signal: AbortSignal,
): Promise<SegmentSidecar> {
  const { bytes, ...summary } = await packRendered(place.domain, files);
  await retryUnavailable(context.retry, signal, () =>
    context.objectStore.put(segmentKey(place.organization, place.key), bytes, { signal }),
  );
  const facts = pages.map(({ markdown: _1, sections: _2, ...rest }) => rest);
  const texts = pages.map(({ markdown, sections }) => ({ markdown, sections }));
  return await storeSidecar(context, place, { ...summary, pages: facts }, signal, texts);
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

export async function storeSidecar(
  context: StoreContext,
  { organization, key }: SegmentPlace,
  details: SegmentSummary & Partial<SegmentSidecar>,
  signal: AbortSignal,
  texts: readonly PageText[] = [],
): Promise<SegmentSidecar> {
  crashPoint('after-segment-put', 'page-renderer');
  const sidecar: SegmentSidecar = { version: 1, pages: [], diagnostics: [], ...details };
  const body = sidecarBytes(sidecar, texts);
  await retryUnavailable(context.retry, signal, () =>
    context.objectStore.put(sidecarKey(organization, key), body, { contentType: 'application/json', signal }),
  );
  crashPoint('after-sidecar-put', 'page-renderer');
  return sidecar;
}

/** What `read` needs of a sidecar, if its segment is there already: then nothing has to be rendered. */
export function existingSegment<T extends { sizeBytes: number }>(
  { objectStore, retry }: StoreContext,
  organization: string,
  key: string,
  signal: AbortSignal,
  read: (objectStore: ObjectStore, organization: string, key: string) => Promise<T | undefined>,
): Promise<T | undefined> {
  return retryUnavailable(retry, signal, async () => {
    const sidecar = await read(objectStore, organization, key);
    if (sidecar === undefined) return undefined;
    const segment = await objectStore.head(segmentKey(organization, key), { signal });
    return segment?.sizeBytes === sidecar.sizeBytes ? sidecar : undefined;
  });
}
