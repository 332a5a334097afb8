import type { Poison } from '#shared/runtime/failures.ts';

/**
 * A named reader that the bus remembers: messages that are not acknowledged come again, to any process that reads under that name.
 *
 * What an adapter guarantees:
 * - `next` takes exactly one message and waits up to `expiresMs` (5,000 by default); undefined when none came, when `signal` aborted,
 *   or when the bus is away (it comes back by itself).
 * - `more` takes up to `count` waiting messages (see `pendingCount`), in order; fewer when another process took some.
 * - `position` says up to where everything is acknowledged, and how many messages are unread or not acknowledged yet; it rejects
 *   when the bus is away.
 * - `reread` gives the messages of one subject from a sequence on, oldest first, whether they were settled or not, and settles nothing: it
 *   is for dead letters and what waits behind them. Their `deliveryCount` is 2. A work queue has none.
 * - Deliveries are at least once. A message that cannot be parsed rejects nothing: it is delivered with `value` undefined and `problem` set.
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
  /** How many messages still wait behind this one. */
  pendingCount: number;
  value: T | undefined;
  /** Why `value` is undefined. */
  problem: Poison | undefined;
  /** W3C trace context of the sender. */
  traceparent: string | undefined;
  /** Answers once the bus has the acknowledgement. */
  ack(): Promise<void>;
  /** Puts the redelivery off by another `ack_wait`. */
  working(): void;
  /** Gives the message back for redelivery, after `delayMs` where given. */
  nak(delayMs?: number): void;
  /** Tells the bus never to deliver it again. */
  terminate(reason: string): void;
};
