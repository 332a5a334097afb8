import type { Bus } from '#shared/bus/bus.ts';
import type { ProjectionName, ProjectionPointer } from '#shared/contracts/projection-pointer.ts';

export type Rebuilt = { projection: ProjectionName; live: string } & NonNullable<ProjectionPointer['lastRebuild']>;

/** Nobody does what was asked for; the message says what to look at. */
export class NotRebuilt extends Error {
  override name = 'NotRebuilt';
}

const takenWithinMs = 15_000;

/** Asks for a rebuild and waits until the new generation is the one that is read. Throws `NotRebuilt` when no projector takes it up. */
export async function rebuildProjection(
  bus: Pick<Bus, 'projections'>,
  projection: ProjectionName,
  request: { id: string; now: Date },
  signal: AbortSignal = new AbortController().signal,
): Promise<Rebuilt> {
  const { pointers, requests } = bus.projections;
  await requests.put(projection, { id: request.id, askedAt: request.now.toISOString() });
  const notTaken = new AbortController();
  const timer = setTimeout(() => notTaken.abort(), takenWithinMs);
  try {
    for await (const change of pointers.watch(projection, AbortSignal.any([signal, notTaken.signal]))) {
      if (change.kind !== 'put') continue;
      const { live, rebuild, lastRebuild } = change.document;
      if (rebuild?.id === request.id) clearTimeout(timer);
      if (lastRebuild?.id === request.id) return { projection, live, ...lastRebuild };
    }
  } finally {
    clearTimeout(timer);
  }
  signal.throwIfAborted();
  throw new NotRebuilt(
    `No projector began to rebuild "${projection}" within ${takenWithinMs / 1000} s. Is one running? The wish is kept, it will begin with the next one that starts.`,
  );
}
