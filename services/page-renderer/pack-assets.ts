import type { SegmentSummary } from '#shared/bundle/segment-summary.ts';
import { type SegmentWriter, segmentWriter } from '#shared/bundle/segment-writer.ts';
import { blobKey } from '#shared/contracts/content-keys.ts';
import { segmentKey } from '#shared/contracts/export-plan.ts';
import type { FileEntry } from '#shared/docs-project/site-model.ts';
import { crashPoint } from '#shared/lifecycle/crash-point.ts';
import { whileUnavailable } from '#shared/task-queue/while-unavailable.ts';
import type { RendererContext } from './context.ts';
import { type SegmentPlace, storeSidecar } from './store-segment.ts';

type AssetContext = Pick<RendererContext, 'objectStore' | 'giveUpAfterMs'>;

/** Copies files of the project into a segment, in the memory of a few blocks whatever their sizes. Rejects when one is gone or damaged. */
export async function packAssets(
  context: AssetContext,
  place: SegmentPlace,
  files: readonly FileEntry[],
  signal: AbortSignal,
): Promise<void> {
  const summary = await whileUnavailable(context.giveUpAfterMs, signal, () => upload(context, place, files, signal));
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
