import { messageOf, NewerMessage, Poison, Unavailable } from '#shared/runtime/failures.ts';
import { pauseAfter } from '#shared/runtime/retry.ts';
import {
  type Consumer,
  openDeadLetterQueue,
  type DeadLetterQueue,
  messageOfLetter,
  settleLetters,
} from './dead-letters.ts';
import type { Delivery, DurableReader } from './durable-reader.ts';

export type ConsumeOptions<T> = Consumer & {
  reader: DurableReader<T>;
  /**
   * Handles one message. If it resolves, the message is acknowledged. If it rejects with `Poison`, the message becomes a dead letter. After
   * any other rejection the message is redelivered. `signal` aborts when the work has to be given up.
   */
  handle: (value: T, delivery: Delivery<T>, signal: AbortSignal) => Promise<void>;
  /** Number of messages that are handled at the same time; 1 by default. */
  slots?: number;
  /** Once it aborts, no new message is taken. Messages in flight are finished. */
  stop: AbortSignal;
  /** Once it aborts, messages in flight are given back to the bus. */
  abandon?: AbortSignal;
  /** Called just before a handled message is acknowledged. */
  beforeAck?: () => void;
  /** Called with 1 when a slot receives a message, and with -1 when that message is settled and the slot asks for the next one. */
  onBusy?: (change: 1 | -1) => void;
};

/** Interval of "working" signals. Below half of the shortest `ack_wait` (5 s). */
const workingEveryMs = 2_000;
const never = new AbortController().signal;

/**
 * Handles the messages of a durable reader until `stop` aborts. Each slot holds only the message that it handles. Dead letters are handled
 * again when an operator retries them, or after an upgrade. Never rejects.
 */
export async function consume<T>(options: ConsumeOptions<T>): Promise<void> {
  const { reader, handle, stop, abandon = never, slots = 1, onBusy = () => {} } = options;
  const deadLetterQueue = openDeadLetterQueue(options, stop);
  const loop = async (): Promise<void> => {
    while (!stop.aborted) {
      const delivery = await reader.next({ signal: stop });
      if (delivery === undefined) continue;
      onBusy(1);
      await workOn(options, deadLetterQueue, delivery).finally(() => onBusy(-1));
    }
  };
  const again: Parameters<DeadLetterQueue['settleOne']>[0] = async (letter, from) => {
    if (from === 'after-it') return;
    const delivery = await messageOfLetter(reader, letter);
    await handle(readable(delivery), delivery, abandon);
  };
  await Promise.all([...Array.from({ length: slots }, loop), settleLetters(deadLetterQueue, again, stop)]);
}

async function workOn<T>(
  options: ConsumeOptions<T>,
  deadLetterQueue: DeadLetterQueue,
  delivery: Delivery<T>,
): Promise<void> {
  const { handle, beforeAck, abandon = never } = options;
  const timer = setInterval(() => delivery.working(), workingEveryMs);
  try {
    await handle(readable(delivery), delivery, abandon);
    beforeAck?.();
    await delivery.ack();
  } catch (error) {
    if (abandon.aborted) delivery.nak();
    else await settleFailure(deadLetterQueue, [delivery], error);
  } finally {
    clearInterval(timer);
  }
}

/** The value of a delivery. Throws its problem when the message could not be parsed. */
export function readable<T>({ value, problem }: Delivery<T>): T {
  if (value === undefined) throw problem ?? new Poison('The message cannot be read.');
  return value;
}

/**
 * Settles deliveries that could not be handled. They become dead letters if no later try can succeed, and are otherwise redelivered after a
 * backoff. A message is also redelivered if its dead letter cannot be stored.
 */
export async function settleFailure(
  deadLetterQueue: DeadLetterQueue,
  deliveries: readonly Delivery<unknown>[],
  error: unknown,
): Promise<void> {
  const { logger, stream, retry, mostDeliveries = Infinity } = deadLetterQueue.consumer;
  // An error of an unavailable system says nothing about the message, however often it occurs.
  const isDead = ({ deliveryCount }: Delivery<unknown>) =>
    error instanceof Poison || (deliveryCount >= mostDeliveries && !(error instanceof Unavailable));
  const retried = deliveries.filter((delivery) => !isDead(delivery));
  if (retried.length > 0) {
    const subjects = [...new Set(retried.map(({ subject }) => subject))].slice(0, 5);
    logger.warn({ err: error, stream, subjects }, 'messages could not be handled; they will be redelivered');
  }
  for (const delivery of retried) delivery.nak(pauseAfter(delivery.deliveryCount, retry));
  for (const delivery of deliveries.filter(isDead)) {
    if (deadLetterQueue.consumer.deadLetters === undefined) await giveUpTask(deadLetterQueue.consumer, delivery, error);
    else await putAside(deadLetterQueue, delivery, error);
  }
}

async function putAside(deadLetterQueue: DeadLetterQueue, delivery: Delivery<unknown>, error: unknown): Promise<void> {
  const { stream, logger, retry } = deadLetterQueue.consumer;
  const { subject, sequence } = delivery;
  const reason = messageOf(error);
  try {
    if (deadLetterQueue.isBehind(delivery)) {
      logger.warn({ stream, subject, sequence }, 'a message waits behind a dead letter of its subject');
    } else {
      await deadLetterQueue.put(delivery, error);
      logger.error({ stream, subject, sequence, reason }, 'a message was set aside: "bindery dead list" shows it');
    }
    delivery.terminate(reason);
  } catch (failure) {
    logger.warn({ err: failure, subject }, 'a dead letter could not be stored; its message will be redelivered');
    delivery.nak(pauseAfter(delivery.deliveryCount, retry));
  }
}

/** Delay before a task of a newer version is redelivered: long enough to avoid a busy loop, short enough for a deployment in progress. */
const newerTaskPauseMs = 5_000;

/**
 * Drops a task that failed. The orchestrator redispatches lost work, so no later task waits for this one. A task of a newer version is left
 * to a worker of that version.
 */
async function giveUpTask(
  { service, stream, deadLetterLog, logger, retry, onLeft = () => {} }: Consumer,
  delivery: Delivery<unknown>,
  error: unknown,
): Promise<void> {
  const { subject, sequence } = delivery;
  const reason = messageOf(error);
  if (error instanceof NewerMessage) {
    // The task is redelivered every few seconds until a newer worker takes it, so only its 1st, 2nd, 4th, 8th … delivery is logged.
    if (Number.isInteger(Math.log2(delivery.deliveryCount))) {
      const { deliveryCount } = delivery;
      logger.warn({ stream, subject, sequence, reason, deliveryCount }, 'a task is left to a newer worker');
    }
    if (delivery.deliveryCount === 1) onLeft();
    delivery.nak(newerTaskPauseMs);
    return;
  }
  logger.error({ stream, subject, sequence, reason }, 'a task was given up');
  try {
    const at = new Date().toISOString();
    await deadLetterLog.record({ service, stream, subject, sequence, reason, outcome: 'given-up', at });
    delivery.terminate(reason);
  } catch (failure) {
    logger.warn({ err: failure, subject }, 'a dead letter could not be stored; its message will be redelivered');
    delivery.nak(pauseAfter(delivery.deliveryCount, retry));
  }
}
