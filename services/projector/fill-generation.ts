import type { Delivery } from '#shared/messaging/durable-reader.ts';
import { UnknownEvent } from '#shared/messaging/parse-message.ts';
import { storesOf } from '#shared/messaging/read-models.ts';
import { projectionTable } from '#shared/messaging/subjects/projection-table.ts';
import { type Generation } from '#shared/contracts/read-models.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { bufferedReadModels, type DocumentMemory, documentMemory } from './buffered-store.ts';
import type { ProjectionRun } from './start-projections.ts';

/** Within what may be unacknowledged at once (see the table), and folded long before the bus delivers it again (30 s). */
const mostAtOnce = 4_000;
/** Each under half a megabyte. */
const mostRemembered = 32;
const retryAfterMs = 1_000;
const longestRetryMs = 30_000;

/** Errors, by name, that the same message would meet again: a log's adapter has one of its own for what breaks its schema. */
const unreadable = new Set(['UnknownEvent', 'BadMessage', 'HistoryBroken']);

/**
 * Reads and folds into one generation until `signal` aborts; what has been taken is finished first. What waits is taken together, so a
 * history is read as fast as the bus gives it, and a commit that comes alone is folded at once.
 */
export async function followGeneration<M>(
  run: ProjectionRun<M>,
  generation: Generation,
  signal: AbortSignal,
): Promise<void> {
  const reader = await run.source.openReader(run.bus, generation);
  const memory = documentMemory(mostRemembered);
  while (!signal.aborted) {
    const first = await reader.next({ signal });
    if (first === undefined) continue;
    const more = await reader.more(Math.min(first.pendingCount, mostAtOnce - 1));
    await foldBatch(run, generation, [first, ...more], memory);
  }
}

async function foldBatch<M>(
  run: ProjectionRun<M>,
  generation: Generation,
  deliveries: Delivery<M>[],
  memory: DocumentMemory,
): Promise<void> {
  const buffer = bufferedReadModels(run.bus.generations[generation], memory);
  const fold = run.source.into(buffer.models, run.bus);
  const folded: Delivery<M>[] = [];
  await fold.prepare(deliveries.flatMap(({ value }) => (value === undefined ? [] : value)));
  for (const delivery of deliveries) {
    try {
      if (delivery.value === undefined) throw new UnknownEvent(delivery.problem ?? 'The message cannot be read.');
      await fold.one(delivery.value);
      folded.push(delivery);
    } catch (error) {
      if (error instanceof Error && unreadable.has(error.name)) await setAside(run, delivery, error.message);
      else takeAgain(run, [delivery], error);
    }
  }
  try {
    await fold.finish();
    await buffer.flush(storesOf[run.source.name]);
    crashPoint('before-ack', 'projector');
    await Promise.all(folded.map((delivery) => delivery.ack()));
  } catch (error) {
    takeAgain(run, folded, error);
  }
}

function takeAgain<M>(run: ProjectionRun<M>, deliveries: Delivery<M>[], error: unknown): void {
  const subjects = [...new Set(deliveries.map(({ subject }) => subject))].slice(0, 5);
  run.logger.warn({ err: error, subjects }, 'commits could not be folded; they come again');
  for (const delivery of deliveries) delivery.nak(Math.min(retryAfterMs * delivery.deliveryCount, longestRetryMs));
}

/**
 * Gives a message up to the operator. Later commits of the same aggregate end here, too: the hole that this one leaves makes the fold
 * go back to the log, and stop at the same message.
 */
async function setAside<M>(run: ProjectionRun<M>, delivery: Delivery<M>, reason: string): Promise<void> {
  const { subject, sequence } = delivery;
  const { stream } = projectionTable[run.source.name];
  run.logger.error({ subject, reason, projection: run.source.name }, 'a commit was set aside');
  try {
    await run.bus.deadLetters.put({ service: 'projector', stream, subject, sequence, reason });
    delivery.terminate(reason);
  } catch (error) {
    takeAgain(run, [delivery], error);
  }
}

/**
 * Folds what was moved from the log to the archive into a generation that is being filled, which nobody else may write meanwhile.
 * Repeating it changes nothing. Rejects when the archive cannot be read to its end: a rebuild leaves nothing out.
 */
export async function foldArchived<M>(
  run: ProjectionRun<M>,
  generation: Generation,
  signal: AbortSignal,
): Promise<void> {
  if (run.source.archived === undefined || run.archive === undefined) return;
  const memory = documentMemory(mostRemembered);
  for await (const messages of run.source.archived(run.archive)) {
    signal.throwIfAborted();
    const buffer = bufferedReadModels(run.bus.generations[generation], memory);
    const fold = run.source.into(buffer.models, run.bus);
    await fold.prepare(messages);
    for (const message of messages) await fold.one(message);
    await fold.finish();
    await buffer.flush(storesOf[run.source.name]);
  }
}

/** Who fills which generation now: at most one follower each. */
export type Followers = {
  start(generation: Generation): void;
  /** Resolves when what was in hand is written. */
  stop(generation: Generation): Promise<void>;
  stopAll(): Promise<void>;
  /** Rejects with the first failure of a follower; never resolves. */
  failure: Promise<never>;
};

export function followers<M>(run: ProjectionRun<M>): Followers {
  const running = new Map<Generation, { stop: AbortController; ended: Promise<void> }>();
  const { promise: failure, reject } = Promise.withResolvers<never>();
  failure.catch(() => {});
  const stop = async (generation: Generation) => {
    const one = running.get(generation);
    one?.stop.abort();
    await one?.ended;
    running.delete(generation);
  };
  return {
    failure,
    start(generation) {
      if (running.has(generation)) return;
      const one = new AbortController();
      running.set(generation, { stop: one, ended: followGeneration(run, generation, one.signal).catch(reject) });
    },
    stop,
    stopAll: async () => void (await Promise.all([...running.keys()].map(stop))),
  };
}
