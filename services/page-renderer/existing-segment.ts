import { segmentKey } from '#shared/contracts/export-plan.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import { whileUnavailable } from '#shared/task-queue/while-unavailable.ts';
import type { RendererContext } from './context.ts';

/** As much of a sidecar as its reader takes, if its segment is there already: then nothing has to be rendered. */
export function existingSegment<T extends { sizeBytes: number }>(
  { objectStore, giveUpAfterMs }: Pick<RendererContext, 'objectStore' | 'giveUpAfterMs'>,
  organization: string,
  key: string,
  signal: AbortSignal,
  read: (objectStore: ObjectStore, organization: string, key: string) => Promise<T | undefined>,
): Promise<T | undefined> {
  return whileUnavailable(giveUpAfterMs, signal, async () => {
    const sidecar = await read(objectStore, organization, key);
    if (sidecar === undefined) return undefined;
    const segment = await objectStore.head(segmentKey(organization, key), { signal });
    return segment?.sizeBytes === sidecar.sizeBytes ? sidecar : undefined;
  });
}
