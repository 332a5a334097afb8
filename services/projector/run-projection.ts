import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Bus } from '#shared/bus/bus.ts';
import type { Commit } from '#shared/contracts/commit.ts';
import type { Delivery, DurableReader } from '#shared/event-log/durable-reader.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { UnknownEvent } from '#shared/event-log/unknown-event.ts';
import { crashPoint } from '#shared/lifecycle/crash-point.ts';
import { foldInOrder } from './fold-in-order.ts';
import type { Projection } from './projection.ts';

export type ProjectionRun<C extends Commit, D extends { revision: number }> = {
  projection: Projection<C, D>;
  openReader: () => Promise<DurableReader<C>>;
  log: Pick<EventLog<C>, 'history'>;
  bus: Pick<Bus, 'leases' | 'deadLetters'>;
  /** Who holds the lease. */
  instance: string;
  logger: Logger;
};

const retryAfterMs = 1_000;
const longestRetryMs = 30_000;

/** Errors, by name, that the same message would meet again: a log's adapter has one of its own for what breaks its schema. */
const unreadable = new Set(['UnknownEvent', 'BadMessage', 'HistoryBroken']);

/** Reads and folds while it holds the projection's lease, until `signal` aborts. */
export async function runProjection<C extends Commit, D extends { revision: number }>(
  run: ProjectionRun<C, D>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const lease = await run.bus.leases.acquire(`projector.${run.projection.name}`, run.instance, signal);
      try {
        await readWhile(run, AbortSignal.any([signal, lease.lost]));
      } finally {
        await lease.release();
      }
    } catch (error) {
      if (signal.aborted) return;
      run.logger.warn({ err: error, projection: run.projection.name }, 'a projection stopped; it starts again');
      await setTimeout(retryAfterMs, undefined, { signal }).catch(() => {});
    }
  }
}

async function readWhile<C extends Commit, D extends { revision: number }>(
  run: ProjectionRun<C, D>,
  signal: AbortSignal,
): Promise<void> {
  const reader = await run.openReader();
  while (!signal.aborted) {
    const delivery = await reader.next({ signal });
    if (delivery !== undefined) await handle(run, delivery);
  }
}

async function handle<C extends Commit, D extends { revision: number }>(
  run: ProjectionRun<C, D>,
  delivery: Delivery<C>,
): Promise<void> {
  try {
    if (delivery.value === undefined) throw new UnknownEvent(delivery.problem ?? 'The message cannot be read.');
    await foldInOrder(run.projection, run.log, delivery.value);
    crashPoint('before-ack', 'projector');
    await delivery.ack();
  } catch (error) {
    if (error instanceof Error && unreadable.has(error.name)) await setAside(run, delivery, error.message);
    else {
      run.logger.warn({ err: error, subject: delivery.subject }, 'a commit could not be folded; it comes again');
      delivery.nak(Math.min(retryAfterMs * delivery.deliveryCount, longestRetryMs));
    }
  }
}

/**
 * Gives a message up to the operator. Later commits of the same aggregate end here, too: the hole that this one leaves makes the fold
 * go back to the log, and stop at the same message.
 */
async function setAside<C extends Commit, D extends { revision: number }>(
  run: ProjectionRun<C, D>,
  delivery: Delivery<C>,
  reason: string,
): Promise<void> {
  const { subject, sequence } = delivery;
  run.logger.error({ subject, reason, projection: run.projection.name }, 'a commit was set aside');
  await run.bus.deadLetters.put({ service: 'projector', stream: run.projection.stream, subject, sequence, reason });
  delivery.terminate(reason);
}
