import { messageOf, Poison } from '#shared/runtime/failures.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { DeadLetters, Delivery, DurableReader } from './durable-reader.ts';

/** Who reads which stream, and what happens to messages that fail. */
export type Consumer = {
  service: string;
  stream: string;
  deadLetters: DeadLetters;
  logger: Logger;
  /** The pauses before a message comes again. */
  retry: RetryPolicy;
  /** After this many deliveries a message becomes a dead letter, whatever the reason. Absent: only poison does. */
  mostDeliveries?: number;
};

export type ConsumeOptions<T> = Consumer & {
  reader: DurableReader<T>;
  /**
   * Works on one message. Resolves: it is acknowledged. Rejects with `Poison`: it is a dead letter. Rejects otherwise: it comes again.
   * `signal` aborts when the work has to be given up.
   */
  handle: (value: T, delivery: Delivery<T>, signal: AbortSignal) => Promise<void>;
  /** How many messages are worked on at a time; 1 unless said otherwise. */
  slots?: number;
  /** Takes no new message from then on; what is in hand is finished. */
  stop: AbortSignal;
  /** Gives up what is in hand: it goes back to the bus. */
  abandon?: AbortSignal;
  /** Just before a message that was worked on is acknowledged. */
  beforeAck?: () => void;
};

/** Below half of the shortest `ack_wait` (5 s). */
const workingEveryMs = 2_000;
const never = new AbortController().signal;

/** Works on the messages of a durable reader until `stop` aborts. Each slot holds exactly the message that it works on. Never rejects. */
export async function consume<T>(options: ConsumeOptions<T>): Promise<void> {
  const { reader, stop, slots = 1 } = options;
  const loop = async (): Promise<void> => {
    while (!stop.aborted) {
      const delivery = await reader.next({ signal: stop });
      if (delivery !== undefined) await workOn(options, delivery);
    }
  };
  await Promise.all(Array.from({ length: slots }, loop));
}

async function workOn<T>(options: ConsumeOptions<T>, delivery: Delivery<T>): Promise<void> {
  const { handle, beforeAck, abandon = never } = options;
  const timer = setInterval(() => delivery.working(), workingEveryMs);
  try {
    await handle(readable(delivery), delivery, abandon);
    beforeAck?.();
    await delivery.ack();
  } catch (error) {
    if (abandon.aborted) delivery.nak();
    else await settleFailure(options, [delivery], error);
  } finally {
    clearInterval(timer);
  }
}

/** The value of a delivery. Throws `Poison` when the message could not be parsed. */
export function readable<T>({ value, problem }: Delivery<T>): T {
  if (value === undefined) throw new Poison(problem ?? 'The message cannot be read.');
  return value;
}

/**
 * Settles deliveries that could not be handled. They become dead letters if no later try can succeed, and otherwise come again after a pause.
 * If a dead letter cannot be stored, its message comes again, too.
 */
export async function settleFailure(
  consumer: Consumer,
  deliveries: readonly Delivery<unknown>[],
  error: unknown,
): Promise<void> {
  const { logger, stream, retry, mostDeliveries = Infinity } = consumer;
  const isDead = (delivery: Delivery<unknown>) => error instanceof Poison || delivery.deliveryCount >= mostDeliveries;
  const retried = deliveries.filter((delivery) => !isDead(delivery));
  if (retried.length > 0) {
    const subjects = [...new Set(retried.map(({ subject }) => subject))].slice(0, 5);
    logger.warn({ err: error, stream, subjects }, 'messages could not be handled; they come again');
  }
  for (const delivery of retried) delivery.nak(pauseAfter(delivery.deliveryCount, retry));
  for (const delivery of deliveries.filter(isDead)) await putAside(consumer, delivery, messageOf(error));
}

async function putAside(
  { service, stream, deadLetters, logger, retry }: Consumer,
  delivery: Delivery<unknown>,
  reason: string,
): Promise<void> {
  const { subject, sequence } = delivery;
  logger.error({ stream, subject, sequence, reason }, 'a message became a dead letter');
  try {
    await deadLetters.put({ service, stream, subject, sequence, reason });
    delivery.terminate(reason);
  } catch (error) {
    logger.warn({ err: error, subject }, 'a dead letter could not be stored; its message comes again');
    delivery.nak(pauseAfter(delivery.deliveryCount, retry));
  }
}
