import type { Delivery } from '#shared/event-log/durable-reader.ts';
import { UnknownEvent } from '#shared/event-log/unknown-event.ts';
import { crashPoint } from '#shared/lifecycle/crash-point.ts';
import type { Generation } from '#shared/read-model/generation.ts';
import { storesOf } from '#shared/read-model/read-models.ts';
import { projectionTable } from '#shared/subjects/projection-table.ts';
import { bufferedReadModels } from './buffered-store.ts';
import { type DocumentMemory, documentMemory } from './document-memory.ts';
import type { ProjectionRun } from './run-projection.ts';

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
