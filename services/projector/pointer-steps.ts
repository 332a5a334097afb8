import type { ProjectionPointer, RebuildRequest } from '#shared/contracts/projection-pointer.ts';
import { otherGeneration } from '#shared/read-model/generation.ts';
import type { Comparison } from './compare-read-models.ts';

/** How long the generation that was read before a flip is still written. */
export const keptMs = 86_400_000;

export const firstPointer: ProjectionPointer = { live: 'blue' };

/** A wish that was neither fulfilled nor begun. Pure, as all of these. */
export const isNew = (pointer: ProjectionPointer, request: RebuildRequest): boolean =>
  request.id !== pointer.rebuild?.id && request.id !== pointer.lastRebuild?.id;

/** A rebuild begins; a generation that was kept until now has to go for it. */
export function asked({ keptUntil: _, ...pointer }: ProjectionPointer, id: string, now: Date): ProjectionPointer {
  return { ...pointer, rebuild: { id, startedAt: now.toISOString(), state: 'asked' } };
}

/** The other generation is empty, its reader at the start. */
export function filling(pointer: ProjectionPointer): ProjectionPointer {
  if (pointer.rebuild === undefined) throw new Error('No rebuild has begun.');
  return { ...pointer, rebuild: { ...pointer.rebuild, state: 'filling' } };
}

/** The other generation takes over. */
export function flipped(pointer: ProjectionPointer, comparison: Comparison, now: Date): ProjectionPointer {
  if (pointer.rebuild === undefined) throw new Error('No rebuild has begun.');
  const { id, startedAt } = pointer.rebuild;
  return {
    live: otherGeneration(pointer.live),
    keptUntil: new Date(now.getTime() + keptMs).toISOString(),
    lastRebuild: {
      id,
      startedAt,
      finishedAt: now.toISOString(),
      documentCount: comparison.documentCount,
      differentCount: comparison.different.length,
      different: comparison.different.slice(0, 20),
    },
  };
}

/** The generation that was kept is given up. */
export function givenUp({ keptUntil: _, ...pointer }: ProjectionPointer): ProjectionPointer {
  return pointer;
}
