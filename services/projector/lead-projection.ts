import { setTimeout } from 'node:timers/promises';
import {
  type Generation,
  generations,
  otherGeneration,
  type ProjectionPointer,
  type RebuildRequest,
} from '#shared/interfaces/read-models.ts';
import { type Consumer, openDeadLetterQueue } from '#shared/messaging/queue/dead-letters.ts';
import { type DocumentStore, storesOf } from '#shared/messaging/read-models.ts';
import { projectionTable } from '#shared/messaging/subjects/projection-table.ts';
import { Conflict } from '#shared/runtime/failures.ts';
import type { RetryPolicy } from '#shared/runtime/retry.ts';
import { dayMs, hourMs } from '#shared/runtime/time-and-ids.ts';
import { compareReadModels } from './compare-read-models.ts';
import { foldArchived, followersOf } from './fill-generation.ts';
import type { ProjectionRun } from './projection.ts';
import {
  beginFilling,
  beginLeading,
  beginRebuild,
  callOff,
  dropKept,
  firstPointer,
  flip,
  isNew,
  lacksDocuments,
  rebuildForLoss,
  rebuildForShape,
} from './projection-pointer.ts';

const positionEveryMs = 50;
const nearMs = 1_000;
/** Interval at which the projector checks that the live generation has lost no documents. */
const lookAfterMs = 10_000;
const recordAgainMs = 60_000;
const untilNextDayMs = (now: Date): number => dayMs - (now.getTime() % dayMs);

const foldRetry: RetryPolicy = { firstPauseMs: 1_000, longestPauseMs: 30_000 };

function consumerOf<M>({ bus: { deadLetters, deadLetterLog }, source, logger }: ProjectionRun<M>): Consumer {
  const { stream } = projectionTable[source.name];
  const isOrdered = !source.isUnordered;
  return { service: 'projector', stream, deadLetters, deadLetterLog, isOrdered, logger, retry: foldRetry };
}

/** Another projector changed the pointer, so this process no longer leads. */
class NotLeading extends Conflict {
  override name = 'NotLeading';
}

/**
 * Carries out the state of a projection's pointer, step by step, until `signal` aborts. Every step can be repeated, so the next leader continues
 * where the last one stopped:
 *
 * 1. The live generation is always followed.
 * 2. When a rebuild was requested, the follower of the other generation stops, the generation is emptied, and its reader goes back to the
 *    start of the log.
 * 3. It is filled until it is nearly where the live one is, then from the archive, and compared with the live one.
 * 4. The live one pauses until the other reaches the same place, then the pointer flips, so that no reader goes back in time.
 *    The filled generation is discarded if the operator calls the rebuild off, or requests another.
 * 5. The old one is followed for another day, for late readers and for operators who want to inspect it; then it is emptied.
 * 6. Between rebuilds dead letters are settled, in all generations that are followed.
 *
 * A paused process that does not know about a new leader is fenced by the pointer's revision: its next write of the pointer is refused, and before it
 * empties a generation it checks that the pointer is unchanged since its own write.
 *
 * Documents with a limited retention are removed from both generations: those of a day at its beginning, those of jobs that were moved to the archive
 * within the hour.
 */
export async function leadProjection<M>(run: ProjectionRun<M>, signal: AbortSignal): Promise<void> {
  const { bus, source, clock, logger, instance } = run;
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  const deadLetterQueue = openDeadLetterQueue(consumerOf(run), ended);
  const followers = followersOf(run, deadLetterQueue);
  const requests = followRequests(bus.projections.requests, source.name, ended);

  await deadLetterQueue.ready;
  const stored = await bus.projections.pointers.get(source.name, { fromLeader: true });
  let pointer = stored?.document ?? firstPointer;
  let revision = stored?.revision ?? 0;
  const save = async (next: ProjectionPointer) => {
    const written = await bus.projections.pointers.put(source.name, next, { expectedRevision: revision });
    if (written === undefined) throw new NotLeading(`The pointer of ${source.name} was written by another projector.`);
    [pointer, revision] = [next, written];
  };
  /** Rejects once another projector leads, which writes its name into the pointer before anything else. */
  const confirm = async () => {
    const now = await bus.projections.pointers.get(source.name, { fromLeader: true });
    if (now?.revision !== revision) throw new NotLeading(`Another projector leads ${source.name}.`);
  };
  const startOver = async (generation: Generation) => {
    await followers.stop(generation);
    await bus.projections.startOver(source.name, generation, confirm);
  };

  let nextExpiry = 0;
  const expire = async () => {
    const now = clock.now();
    nextExpiry = now.getTime() + Math.min(hourMs, untilNextDayMs(now));
    const both = generations.map((generation) => bus.generations[generation]);
    const { archive } = run;
    try {
      await source.expire?.(both, { now, exports: bus.exports, signal: ended, ...(archive && { archive }) });
    } catch (error) {
      ended.throwIfAborted();
      logger.warn(
        { err: error, projection: source.name },
        'expired documents could not be removed; the next attempt is in an hour',
      );
    }
  };
  let nextRecord = 0;
  let recordedUntil: Date | undefined;
  /** The newest message at some time. When everything up to it is folded, the documents contain all messages from before that time. */
  let awaited: { sequence: number; at: Date } | undefined;
  const recordDays = async (live: Generation) => {
    if (source.record === undefined || clock.now().getTime() < nextRecord) return;
    try {
      const { doneUpTo, leftCount } = await positionOf(live);
      awaited ??= { sequence: doneUpTo + leftCount, at: clock.now() };
      if (doneUpTo < awaited.sequence) return;
      // A message that was set aside is in no document.
      if ((await bus.deadLetters.keys(`projector.${projectionTable[source.name].stream}.>`)).length > 0) return;
      await source.record(bus.generations[live], {
        bus,
        until: awaited.at,
        before: recordedUntil,
        confirm,
        signal: ended,
      });
      recordedUntil = awaited.at;
      awaited = undefined;
      nextRecord = clock.now().getTime() + hourMs;
    } catch (error) {
      ended.throwIfAborted();
      if (error instanceof NotLeading) throw error;
      nextRecord = clock.now().getTime() + recordAgainMs;
      logger.warn(
        { err: error, projection: source.name },
        'the sums of past days could not be recorded; the next attempt is in a minute',
      );
    }
  };
  const step = async (): Promise<void> => {
    const { live } = pointer;
    const other = otherGeneration(live);
    followers.start(live);
    if (clock.now().getTime() >= nextExpiry) await expire();
    if (pointer.rebuild !== undefined) {
      const superseded = requests.newer(pointer);
      try {
        return await rebuildStep(live, other, AbortSignal.any([ended, superseded]));
      } catch (error) {
        if (!superseded.aborted || ended.aborted) throw error;
      }
    }
    const request = requests.latest();
    if (request?.callOff === true && isNew(pointer, request)) {
      if (pointer.rebuild !== undefined) await startOver(other);
      logger.info({ projection: source.name, rebuild: pointer.rebuild?.id }, 'a rebuild was called off');
      return save(callOff(pointer, request.id, clock.now()));
    }
    if (request !== undefined && isNew(pointer, request)) {
      logger.info({ projection: source.name, rebuild: request.id }, 'a read model is rebuilt');
      return save(beginRebuild(pointer, request.id, clock.now()));
    }
    const ownRebuild = rebuildForShape(pointer, source.shape);
    if (ownRebuild !== undefined) {
      logger.info({ projection: source.name, shape: source.shape }, 'a read model of an older shape is rebuilt');
      return save(beginRebuild(pointer, ownRebuild, clock.now()));
    }
    const lostAt = await bus.projections.lostDocumentsAt(source.name, live);
    const repair = rebuildForLoss(pointer, lostAt);
    if (repair !== undefined) {
      logger.error(
        { projection: source.name, lostAt },
        'a bucket was deleted and recreated; its read model is rebuilt',
      );
      return save(beginRebuild(pointer, repair, clock.now()));
    }
    await recordDays(live);
    const remainingMs =
      pointer.keptUntil === undefined ? undefined : Date.parse(pointer.keptUntil) - clock.now().getTime();
    if (remainingMs !== undefined && remainingMs <= 0) {
      await startOver(other);
      return save(dropKept(pointer));
    }
    if (remainingMs !== undefined) followers.start(other);
    if (await deadLetterQueue.settleOne(followers.again)) return;
    const idle = new AbortController();
    await Promise.race([
      requests.next(Math.min(remainingMs ?? lookAfterMs, lookAfterMs, untilNextDayMs(clock.now())), idle.signal),
      deadLetterQueue.changed(idle.signal),
    ]);
    idle.abort();
  };

  /** Takes the next step of the current rebuild. Rejects when `wanted` aborts; the pointer has not flipped then. */
  const rebuildStep = async (live: Generation, other: Generation, wanted: AbortSignal): Promise<void> => {
    const lostAt = await bus.projections.lostDocumentsAt(source.name, other);
    if (pointer.rebuild?.state === 'asked' || lacksDocuments(pointer, other, lostAt)) {
      await startOver(other);
      return save(beginFilling(pointer, await bus.projections.lostDocumentsAt(source.name, other)));
    }
    followers.start(other);
    await nearlyAt(live, other, wanted);
    // The archive is read after the log: messages that were purged meanwhile are in it by now.
    await followers.stop(other);
    const setAside = await foldArchived(run, other, wanted);
    followers.start(other);
    await nearlyAt(live, other, wanted);
    await expire();
    const { [live]: before, [other]: after } = bus.generations;
    const comparison = await compareReadModels(before, after, storesOf[source.name], wanted);
    await followers.stop(live);
    await reached(other, (await positionOf(live)).doneUpTo, wanted);
    await save(flip(pointer, { comparison, setAside, shape: source.shape }, clock.now()));
    logger.info({ projection: source.name, live: other, ...pointer.lastRebuild }, 'a read model was rebuilt');
  };

  /** The shape of the documents of a new installation: nothing was written before its first projector, so no document has an older shape. */
  const shapeAtFirst = async (): Promise<Pick<ProjectionPointer, 'shape'>> =>
    stored === undefined && (await positionOf(firstPointer.live)).doneUpTo === 0 ? { shape: source.shape } : {};
  const positionOf = async (generation: Generation) => (await source.openReader(bus, generation)).position();
  const reached = async (generation: Generation, sequence: number, wanted: AbortSignal): Promise<void> => {
    const reader = await source.openReader(bus, generation);
    while ((await reader.position()).doneUpTo < sequence) {
      await setTimeout(positionEveryMs, undefined, { signal: wanted });
    }
    wanted.throwIfAborted();
  };
  /** Resolves when the other generation catches up with the live one in less than a second. It never quite reaches it while commits keep coming. */
  const nearlyAt = async (live: Generation, other: Generation, wanted: AbortSignal): Promise<void> => {
    for (let tookMs = Infinity; tookMs > nearMs; ) {
      const askedAt = performance.now();
      await reached(other, (await positionOf(live)).doneUpTo, wanted);
      tookMs = performance.now() - askedAt;
    }
  };

  const steps = async () => {
    // A leader that stopped between removing a reader and making it again left it missing.
    for (const generation of generations) await bus.projections.makeReader(source.name, generation);
    await save(beginLeading({ ...pointer, ...(await shapeAtFirst()) }, instance, source.shape));
    while (!ended.aborted) await step();
  };
  const working = steps();
  try {
    await Promise.race([working, followers.failure, requests.failure]);
  } finally {
    stop.abort();
    // After a failure of a follower, a step may still be emptying a generation. The next leader must not fill it meanwhile.
    await working.catch(() => {});
    await followers.stopAll();
  }
}

type RebuildRequests = {
  latest(): RebuildRequest | undefined;
  /** Aborts as soon as there is a request that is new to this pointer. */
  newer(pointer: ProjectionPointer): AbortSignal;
  /** Resolves after the next request, after `withinMs`, or when a signal aborts. */
  next(withinMs: number, until: AbortSignal): Promise<void>;
  /** Rejects when requests can no longer be followed; never resolves. */
  failure: Promise<never>;
};

/** Follows the rebuild requests of a projection until `signal` aborts. */
function followRequests(
  requests: Pick<DocumentStore<RebuildRequest>, 'watch'>,
  projection: string,
  signal: AbortSignal,
): RebuildRequests {
  let latest: RebuildRequest | undefined;
  let wake = () => {};
  let check = () => {};
  const { promise: failure, reject } = Promise.withResolvers<never>();
  failure.catch(() => {});
  const follow = async () => {
    for await (const change of requests.watch(projection, signal)) {
      if (change.kind !== 'put') continue;
      latest = change.document;
      check();
      wake();
    }
    if (!signal.aborted) throw new Error('The watch of rebuild requests ended.');
  };
  follow().catch(reject);
  return {
    latest: () => latest,
    newer(pointer) {
      const superseded = new AbortController();
      check = () => latest !== undefined && isNew(pointer, latest) && superseded.abort();
      check();
      return superseded.signal;
    },
    failure,
    async next(withinMs, until) {
      const woken = new AbortController();
      wake = () => woken.abort();
      until.addEventListener('abort', wake, { once: true });
      await setTimeout(withinMs, undefined, { signal: AbortSignal.any([signal, woken.signal]) }).catch(() => {});
    },
  };
}
