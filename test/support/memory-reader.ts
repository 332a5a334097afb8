import type { Delivery, DurableReader } from '#shared/event-log/durable-reader.ts';

type Message<T> = { subject: string; sequence: number; value: T | undefined; problem?: string; deliveryCount: number };

export type MemoryReader<T> = DurableReader<T> & {
  /** While true what is pushed is lost, as if nobody had delivered it yet. */
  hold: boolean;
  push(message: { subject: string; sequence: number; value: T | undefined; problem?: string }): void;
  /** Answers when nothing waits and nothing is in hand. */
  idle(): Promise<void>;
};

/** A durable reader in one process; what is given back by `nak` comes again at once, whatever the delay. */
export function memoryReader<T>(): MemoryReader<T> {
  const waiting: Message<T>[] = [];
  let inHand = 0;
  let done = 0;
  let wake: (() => void)[] = [];
  let idleListeners: (() => void)[] = [];

  const changed = () => {
    for (const resolve of wake.splice(0)) resolve();
    if (waiting.length > 0 || inHand > 0) return;
    for (const resolve of idleListeners.splice(0)) resolve();
  };

  const deliver = (message: Message<T>): Delivery<T> => {
    let settled = false;
    const settle = (again: boolean) => {
      if (settled) return;
      settled = true;
      inHand -= 1;
      if (again) waiting.push({ ...message, deliveryCount: message.deliveryCount + 1 });
      else done = Math.max(done, message.sequence);
      changed();
    };
    return {
      ...structuredClone(message),
      problem: message.problem,
      pendingCount: waiting.length,
      traceparent: undefined,
      ack: async () => settle(false),
      working: () => {},
      nak: () => settle(true),
      terminate: () => settle(false),
    };
  };

  const reader: MemoryReader<T> = {
    hold: false,
    push: (message) => {
      if (reader.hold) return;
      waiting.push({ ...message, deliveryCount: 1 });
      changed();
    },
    next: async ({ signal } = {}) => {
      const stop = () => changed();
      const isAborted = () => signal?.aborted === true;
      signal?.addEventListener('abort', stop);
      try {
        while (waiting.length === 0 && !isAborted()) await new Promise<void>((resolve) => wake.push(resolve));
      } finally {
        signal?.removeEventListener('abort', stop);
      }
      const message = signal?.aborted ? undefined : waiting.shift();
      if (message === undefined) return undefined;
      inHand += 1;
      return deliver(message);
    },
    more: async (count) => {
      const messages = waiting.splice(0, count);
      inHand += messages.length;
      return messages.map(deliver);
    },
    position: async () => ({ doneUpTo: done, leftCount: waiting.length + inHand }),
    idle: async () => {
      if (waiting.length === 0 && inHand === 0) return;
      await new Promise<void>((resolve) => idleListeners.push(resolve));
    },
  };
  return reader;
}
