import {
  type Generation,
  otherGeneration,
  type ProjectionPointer,
  type RebuildRequest,
} from '#shared/interfaces/read-models.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import type { Comparison } from './compare-read-models.ts';
import type { SetAside } from './fill-generation.ts';

/*
 * The transitions of a pointer: the steps of a rebuild, from the request to the flip, and of the generation that is kept for a day. All are pure;
 * `leadProjection` carries them out.
 */

export const firstPointer: ProjectionPointer = { live: 'blue' };

/** True for a request that was neither met nor begun. Pure, like the transitions below. */
export const isNew = (pointer: ProjectionPointer, request: RebuildRequest): boolean =>
  ![pointer.rebuild?.id, pointer.lastRebuild?.id, pointer.met, pointer.calledOff?.id].includes(request.id);

/** Begins a rebuild. It replaces a generation that was kept until now. */
export function beginRebuild(
  { keptUntil: _, ...pointer }: ProjectionPointer,
  id: string,
  now: Date,
): ProjectionPointer {
  return { ...pointer, rebuild: { id, startedAt: now.toISOString(), state: 'asked' } };
}

/**
 * Begins to fill the other generation, which is empty, and whose reader is at the start. `lostAt`: set if a bucket counts as younger than that new
 * reader, as after the clock of the bus was set back.
 */
export function beginFilling({ repaired, ...pointer }: ProjectionPointer, lostAt?: string): ProjectionPointer {
  if (pointer.rebuild === undefined) throw new Error('No rebuild has begun.');
  const { [otherGeneration(pointer.live)]: _, ...ofLive } = repaired ?? {};
  const known = lostAt === undefined ? ofLive : { ...ofLive, [otherGeneration(pointer.live)]: lostAt };
  const rebuild = { ...pointer.rebuild, state: 'filling' as const };
  return { ...pointer, ...(Object.keys(known).length === 0 ? {} : { repaired: known }), rebuild };
}

/** True if a generation lost documents at `lostAt`, and was not filled from the start since. */
export const lacksDocuments = (
  pointer: ProjectionPointer,
  generation: Generation,
  lostAt: string | undefined,
): lostAt is string => lostAt !== undefined && pointer.repaired?.[generation] !== lostAt;

/** Result of a rebuild: the comparison of its documents, the objects that were left out, and the shape of the documents. */
type Filled = { comparison: Comparison; setAside?: readonly SetAside[]; shape: number };

/** Makes the other generation the live one, and keeps the former live one for a day. Throws if no rebuild has begun. */
export function flip(
  { rebuild, ...pointer }: ProjectionPointer,
  { comparison, setAside = [], shape }: Filled,
  now: Date,
): ProjectionPointer {
  if (rebuild === undefined) throw new Error('No rebuild has begun.');
  const { id, startedAt } = rebuild;
  // A rebuild that the projector started replaces the operator's last one in `lastRebuild`, so `met` keeps the id of that one.
  const met =
    id === ownRebuildId(shape) || id.startsWith('lost-') ? (pointer.lastRebuild?.id ?? pointer.met) : undefined;
  return {
    ...pointer,
    ...(met === undefined ? {} : { met }),
    live: otherGeneration(pointer.live),
    shape,
    keptUntil: new Date(now.getTime() + dayMs).toISOString(),
    lastRebuild: {
      id,
      startedAt,
      finishedAt: now.toISOString(),
      documentCount: comparison.documentCount,
      differentCount: comparison.different.length,
      different: comparison.different.slice(0, 20),
      ...(setAside.length === 0 ? {} : { setAsideCount: setAside.length, setAside: setAside.slice(0, 20) }),
    },
  };
}

const ownRebuildId = (shape: number): string => `shape-${shape}`;

/** The rebuild that a projector starts because the live documents have an older shape than it writes. It starts once, and not if it was called off. */
export function rebuildForShape(pointer: ProjectionPointer, shape: number): string | undefined {
  const id = ownRebuildId(shape);
  return (pointer.shape ?? 1) < shape && pointer.calledOff?.rebuildId !== id ? id : undefined;
}

/** The rebuild that a projector starts because the live generation lost documents at this time. It starts once, and not if it was called off. Pure. */
export function rebuildForLoss(pointer: ProjectionPointer, lostAt: string | undefined): string | undefined {
  if (!lacksDocuments(pointer, pointer.live, lostAt)) return undefined;
  const id = `lost-${lostAt}`;
  return pointer.calledOff?.rebuildId === id ? undefined : id;
}

/**
 * A projector that writes this shape begins to lead. The leader before may have been of an older version, for example after a downgrade, and may have
 * written documents of its shape among newer ones; then the live generation counts as of the older shape. A leader that does not record its shape is
 * older than this field.
 */
export function beginLeading(
  { shape = 1, ...pointer }: ProjectionPointer,
  leader: string,
  leaderShape: number,
): ProjectionPointer {
  const wrote = pointer.leader === undefined ? shape : (pointer.leaderShape ?? 1);
  return { ...pointer, shape: Math.min(shape, wrote), leader, leaderShape };
}

/** Discards the filled generation, and ends the rebuild. */
export function callOff({ rebuild, ...pointer }: ProjectionPointer, id: string, now: Date): ProjectionPointer {
  return {
    ...pointer,
    calledOff: { id, at: now.toISOString(), ...(rebuild === undefined ? {} : { rebuildId: rebuild.id }) },
  };
}

/** Ends following the generation that was kept. */
export function dropKept({ keptUntil: _, ...pointer }: ProjectionPointer): ProjectionPointer {
  return pointer;
}
