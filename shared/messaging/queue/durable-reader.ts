import type { Poison } from '#shared/runtime/failures.ts';

/**
 * A named reader that the bus remembers: messages that are not acknowledged are redelivered to any process that reads under that name.
 *
 * Adapters guarantee:
 * - `next` takes exactly one message and waits up to `expiresMs` (5,000 by default). It resolves to undefined when no message came, when
 *   `signal` aborted, or when the bus is unavailable; the reader reconnects automatically.
 * - `more` takes up to `count` waiting messages (see `pendingCount`), in order; fewer when another process took some.
 * - `position` returns the sequence up to which all messages are acknowledged, and the number of messages that are unread or not yet
 *   acknowledged. It rejects when the bus is unavailable.
 * - `reread` returns the messages of one subject from a sequence on, oldest first, whether they were settled or not, and settles nothing. It serves
 *   dead letters and the messages after them. Their `deliveryCount` is 2. A work queue has no messages to reread.
 * - Deliveries are at least once. A message that cannot be parsed causes no rejection: it is delivered with `value` undefined and `problem`
 *   set.
 */
export type DurableReader<T> = {
  next(options?: { expiresMs?: number; signal?: AbortSignal }): Promise<Delivery<T> | undefined>;
  more(count: number): Promise<Delivery<T>[]>;
  position(): Promise<{ doneUpTo: number; leftCount: number }>;
  reread(subject: string, fromSequence: number): AsyncIterable<Delivery<T>>;
};

export type Delivery<T> = {
  subject: string;
  sequence: number;
  /** 1 at the first delivery. */
  deliveryCount: number;
  /** Number of messages that still wait after this one. */
  pendingCount: number;
  value: T | undefined;
  /** The reason why `value` is undefined. */
  problem: Poison | undefined;
  /** W3C trace context of the sender. */
  traceparent: string | undefined;
  /** Resolves once the bus has stored the acknowledgement. */
  ack(): Promise<void>;
  /** Postpones the redelivery by another `ack_wait`. */
  working(): void;
  /** Gives the message back for redelivery, after `delayMs` if given. */
  nak(delayMs?: number): void;
  /** Tells the bus never to deliver it again. */
  terminate(reason: string): void;
};
