import { packSegment } from '#shared/bundle/pack-segment.ts';
import type { SegmentSummary } from '#shared/bundle/segment-summary.ts';
import { segmentKey, sidecarKey } from '#shared/contracts/export-plan.ts';
import type { SegmentSidecar } from '#shared/contracts/segment-sidecar.ts';
import { crashPoint } from '#shared/lifecycle/crash-point.ts';
import type { RenderedFile } from '#shared/render/rendered-file.ts';
import { whileUnavailable } from '#shared/task-queue/while-unavailable.ts';
import type { RendererContext } from './context.ts';

/** Which segment of whose export. `domain` is the top folder of its files. */
export type SegmentPlace = { organization: string; domain: string; key: string };
export type SidecarDetails = Partial<Pick<SegmentSidecar, 'pages' | 'madeFrom'>>;

type StoreContext = Pick<RendererContext, 'objectStore' | 'giveUpAfterMs'>;

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
  await whileUnavailable(context.giveUpAfterMs, signal, () =>
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
  await whileUnavailable(context.giveUpAfterMs, signal, () =>
    context.objectStore.put(sidecarKey(organization, key), body, { contentType: 'application/json', signal }),
  );
  crashPoint('after-sidecar-put', 'page-renderer');
  return sidecar;
}
