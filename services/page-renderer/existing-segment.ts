import { segmentKey } from '#shared/contracts/export-plan.ts';
import type { SegmentSidecar } from '#shared/contracts/segment-sidecar.ts';
import { readSidecar } from '#shared/export-objects/read-sidecar.ts';
import { whileUnavailable } from '#shared/task-queue/while-unavailable.ts';
import type { RendererContext } from './context.ts';

/** The sidecar of a segment that is there already, so that nothing has to be rendered. */
export function existingSegment(
  { objectStore, giveUpAfterMs }: Pick<RendererContext, 'objectStore' | 'giveUpAfterMs'>,
  organization: string,
  key: string,
  signal: AbortSignal,
): Promise<SegmentSidecar | undefined> {
  return whileUnavailable(giveUpAfterMs, signal, async () => {
    const sidecar = await readSidecar(objectStore, organization, key);
    if (sidecar === undefined) return undefined;
    const segment = await objectStore.head(segmentKey(organization, key), { signal });
    return segment?.sizeBytes === sidecar.sizeBytes ? sidecar : undefined;
  });
}
