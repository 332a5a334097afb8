import { setTimeout } from 'node:timers/promises';
import {
  type Generation,
  generations,
  otherGeneration,
  type ProjectionPointer,
  type RebuildRequest,
} from '#shared/contracts/read-models.ts';
import { type DocumentStore, storesOf } from '#shared/messaging/read-models.ts';
import { compareReadModels, type Comparison } from './compare-read-models.ts';
import { foldArchived, followers } from './fill-generation.ts';
import type { ProjectionRun } from './start-projections.ts';

const positionEveryMs = 50;
const nearMs = 1_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const untilNextDayMs = (now: Date): number => dayMs - (now.getTime() % dayMs);

/** The pointer was changed by somebody else: this process does not lead any more. */
class NotLeading extends Error {
  override name = 'NotLeading';
}

/**
 * Does what the pointer of a projection says, one step after the other, until `signal` aborts. Every step can be repeated, so whoever
 * takes the lead goes on where the last one was:
 *
 * 1. The live generation is followed always.
 * 2. A rebuild was asked for: whatever follows the other generation stops, the generation is emptied, its consumer begins at the start.
 * 3. It is filled until it is nearly where the live one is, then from the archive, and compared with the live one.
 * 4. The live one pauses for the moment in which the other reaches the same place, then the pointer flips: no reader goes back in time.
 * 5. The old one is followed for another day, for readers that are late and for whoever wants to look; then it is emptied.
 *
 * Where documents may not be kept for good, those whose time has come are removed at the beginning of each day, from both generations.
 */
export async function leadProjection<M>(run: ProjectionRun<M>, signal: AbortSignal): Promise<void> {
  const { bus, source, clock, logger } = run;
  const crew = followers(run);
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  const wishes = rebuildWishes(bus.projections.requests, source.name, ended);

  const stored = await bus.projections.pointers.get(source.name, { fromLeader: true });
  let pointer = stored?.document ?? firstPointer;
  let revision = stored?.revision ?? 0;
  const save = async (next: ProjectionPointer) => {
    const written = await bus.projections.pointers.put(source.name, next, { expectedRevision: revision });
    if (written === undefined) throw new NotLeading(`The pointer of ${source.name} was written by another projector.`);
    [pointer, revision] = [next, written];
  };

  const expire = async () => {
    for (const generation of generations) await source.expire?.(bus.generations[generation], clock.now());
  };
  const step = async (): Promise<void> => {
    const { live } = pointer;
    const other = otherGeneration(live);
    crew.start(live);
    await expire();
    if (pointer.rebuild?.state === 'asked') {
      await crew.stop(other);
      await bus.projections.startOver(source.name, other);
      return save(filling(pointer));
    }
    if (pointer.rebuild?.state === 'filling') {
      crew.start(other);
      await nearlyAt(live, other);
      // After the log: what was taken out of it meanwhile is in the archive by now.
      await crew.stop(other);
      await foldArchived(run, other, ended);
      crew.start(other);
      await nearlyAt(live, other);
      await expire();
      const { [live]: before, [other]: after } = bus.generations;
      const comparison = await compareReadModels(before, after, storesOf[source.name], ended);
      await crew.stop(live);
      await reached(other, (await positionOf(live)).doneUpTo);
      await save(flipped(pointer, comparison, clock.now()));
      logger.info({ projection: source.name, live: other, ...pointer.lastRebuild }, 'a read model was rebuilt');
      return;
    }
    const wish = wishes.latest();
    if (wish !== undefined && isNew(pointer, wish)) {
      logger.info({ projection: source.name, rebuild: wish.id }, 'a read model is rebuilt');
      return save(asked(pointer, wish.id, clock.now()));
    }
    const remainingMs =
      pointer.keptUntil === undefined ? undefined : Date.parse(pointer.keptUntil) - clock.now().getTime();
    if (remainingMs !== undefined && remainingMs <= 0) {
      await crew.stop(other);
      await bus.projections.startOver(source.name, other);
      return save(givenUp(pointer));
    }
    if (remainingMs !== undefined) crew.start(other);
    await wishes.next(Math.min(remainingMs ?? hourMs, untilNextDayMs(clock.now())));
  };

  const positionOf = async (generation: Generation) => (await source.openReader(bus, generation)).position();
  const reached = async (generation: Generation, sequence: number): Promise<void> => {
    const reader = await source.openReader(bus, generation);
    while ((await reader.position()).doneUpTo < sequence) {
      await setTimeout(positionEveryMs, undefined, { signal: ended });
    }
  };
  /** While commits keep coming there is no end to reach: near is where what the live one is ahead by takes less than a second. */
  const nearlyAt = async (live: Generation, other: Generation): Promise<void> => {
    for (let tookMs = Infinity; tookMs > nearMs; ) {
      const askedAt = performance.now();
      await reached(other, (await positionOf(live)).doneUpTo);
      tookMs = performance.now() - askedAt;
    }
  };

  const steps = async () => {
    while (!ended.aborted) await step();
  };
  try {
    const working = steps();
    // When a follower fails the steps may still wait for something; they end with the signal below.
    working.catch(() => {});
    await Promise.race([working, crew.failure, wishes.failure]);
  } finally {
    stop.abort();
    await crew.stopAll();
  }
}

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

export type RebuildWishes = {
  latest(): RebuildRequest | undefined;
  /** Resolves after the next wish, after `withinMs`, or when the signal aborts. */
  next(withinMs: number | undefined): Promise<void>;
  /** Rejects when wishes cannot be followed any more; never resolves. */
  failure: Promise<never>;
};

const longestWaitMs = 3_600_000;

/** Follows what rebuilds of a projection are wished for, until `signal` aborts. */
export function rebuildWishes(
  requests: Pick<DocumentStore<RebuildRequest>, 'watch'>,
  projection: string,
  signal: AbortSignal,
): RebuildWishes {
  let latest: RebuildRequest | undefined;
  let wake = () => {};
  const { promise: failure, reject } = Promise.withResolvers<never>();
  failure.catch(() => {});
  const follow = async () => {
    for await (const change of requests.watch(projection, signal)) {
      if (change.kind !== 'put') continue;
      latest = change.document;
      wake();
    }
    if (!signal.aborted) throw new Error('The watch of rebuild requests ended.');
  };
  follow().catch(reject);
  return {
    latest: () => latest,
    failure,
    async next(withinMs = longestWaitMs) {
      const woken = new AbortController();
      wake = () => woken.abort();
      await setTimeout(withinMs, undefined, { signal: AbortSignal.any([signal, woken.signal]) }).catch(() => {});
    },
  };
}
