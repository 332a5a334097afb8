import { blobKey, segmentKey, type SegmentSidecar, sidecarKey } from '#shared/contracts/stored-objects.ts';
import type { FileEntry } from '#shared/docs/project/site-model.ts';
import type { RenderedFile } from '#shared/docs/render/bundle-paths.ts';
import {
  packSegment,
  type SegmentSummary,
  type SegmentWriter,
  segmentWriter,
} from '#shared/export/bundle/segment-writer.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { RendererContext } from './context.ts';

/** Which segment of whose export. `domain` is the top folder of its files. */
export type SegmentPlace = { organization: string; domain: string; key: string };
export type SidecarDetails = Partial<Pick<SegmentSidecar, 'pages' | 'madeFrom'>>;

type StoreContext = Pick<RendererContext, 'objectStore' | 'retry'>;

/** Packs rendered files and stores them, the sidecar after the segment: when it is there, so is all the rest. */
export async function storeSegment(
  context: StoreContext,
  place: SegmentPlace,
  files: readonly RenderedFile[],
  details: SidecarDetails,
  signal: AbortSignal,
): Promise<SegmentSidecar> {
  const packed = files.map(({ path, body }) => ({ path: `${place.domain}/${path}`, body }));
  const { bytes, ...summary } = await packSegment(packed);
  await retryUnavailable(context.retry, signal, () =>
    context.objectStore.put(segmentKey(place.organization, place.key), bytes, { signal }),
  );
  crashPoint('after-segment-put', 'page-renderer');
  return await storeSidecar(context, place, summary, details, signal);
}

export async function storeSidecar(
  context: StoreContext,
  { organization, key }: SegmentPlace,
  summary: SegmentSummary,
  details: SidecarDetails,
  signal: AbortSignal,
): Promise<SegmentSidecar> {
  const sidecar: SegmentSidecar = { version: 1, ...summary, pages: [], diagnostics: [], ...details };
  const body = Buffer.from(JSON.stringify(sidecar));
  await retryUnavailable(context.retry, signal, () =>
    context.objectStore.put(sidecarKey(organization, key), body, { contentType: 'application/json', signal }),
  );
  crashPoint('after-sidecar-put', 'page-renderer');
  return sidecar;
}

/** As much of a sidecar as its reader takes, if its segment is there already: then nothing has to be rendered. */
export function existingSegment<T extends { sizeBytes: number }>(
  { objectStore, retry }: Pick<RendererContext, 'objectStore' | 'retry'>,
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

type AssetContext = Pick<RendererContext, 'objectStore' | 'retry'>;

/** Copies files of the project into a segment, in the memory of a few blocks whatever their sizes. Rejects when one is gone or damaged. */
export async function packAssets(
  context: AssetContext,
  place: SegmentPlace,
  files: readonly FileEntry[],
  signal: AbortSignal,
): Promise<void> {
  const summary = await retryUnavailable(context.retry, signal, () => upload(context, place, files, signal));
  crashPoint('after-segment-put', 'page-renderer');
  await storeSidecar(context, place, summary, {}, signal);
}

async function upload(
  context: AssetContext,
  place: SegmentPlace,
  files: readonly FileEntry[],
  signal: AbortSignal,
): Promise<SegmentSummary> {
  const writer = segmentWriter();
  const key = segmentKey(place.organization, place.key);
  const stored = context.objectStore.putStream(key, writer.output, { signal });
  let uploadError: unknown;
  const settled = stored.catch((error: unknown) => {
    uploadError = error;
    writer.output.destroy();
  });
  try {
    for (const file of files) await add(context, place, writer, file, signal);
    const summary = await writer.finish();
    await stored;
    return summary;
  } catch (error) {
    // When the upload failed first, that is the reason.
    const reason = uploadError ?? error;
    writer.output.destroy();
    await settled;
    throw reason;
  }
}

async function add(
  { objectStore }: AssetContext,
  { organization, domain }: SegmentPlace,
  writer: SegmentWriter,
  { path, sha256, sizeBytes }: FileEntry,
  signal: AbortSignal,
): Promise<void> {
  const body = await objectStore.getStream(blobKey(organization, sha256), { signal });
  if (body === undefined) throw new Error(`the file ${path} of the content version is gone`);
  try {
    const added = await writer.addStream(`${domain}/${path}`, sizeBytes, body);
    if (added !== sha256) throw new Error(`the stored file ${path} of the content version is damaged`);
  } finally {
    body.destroy();
  }
}
