import type { Consumer, JetStreamClient, JetStreamManager, JsMsg } from '@nats-io/jetstream';
import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import { BusUnavailable } from '../bus.ts';
import type { Delivery, DurableReader } from '#shared/messaging/queue/durable-reader.ts';
import { messageOf, Poison } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { parseMessage, type StoredMessage } from '../parse-message.ts';
import { notProvisioned, whileAway } from './connection.ts';

const bindDeadlineMs = 15_000;
const positionDeadlineMs = 5_000;
/** Longest time after a restart of the server until the client requests messages again. */
const askAgainMs = 5_000;
const moreExpiresMs = 1_000;
const ackTimeoutMs = 2_000;
const ackAttempts = 5;
const awayPauseMs = 100;
/** Time without an answer after which the trouble is logged. A restarting bus is back long before that. */
const noticeAfterMs = 30_000;

/** Binds to a durable consumer that the provisioner made. */
export async function natsDurableReader<T>(
  { js, jsm }: { js: JetStreamClient; jsm: JetStreamManager },
  stream: string,
  durable: string,
  schema: z.ZodType<T>,
  log?: Logger,
): Promise<DurableReader<T>> {
  const consumer: Consumer = await whileAway(`binding to ${durable} of ${stream}`, bindDeadlineMs, () =>
    js.consumers.get(stream, durable),
  ).catch((error: unknown) => {
    throw notProvisioned(error, `consumer "${durable}" of the stream ${stream}`);
  });
  const trouble = longTrouble((error) =>
    log?.error(
      { err: error, stream, durable },
      'nothing could be read for half a minute: the bus is unavailable, or this durable is missing and has to be provisioned again',
    ),
  );
  return {
    async next({ expiresMs = askAgainMs, signal } = {}) {
      if (signal?.aborted) return undefined;
      const pending = consumer.next({ expires: Math.max(1_000, expiresMs) }).then(
        (message) => {
          trouble.over();
          return message;
        },
        async (error: unknown) => {
          log?.debug({ err: error, durable }, 'nothing could be read; the bus may be unavailable');
          trouble.goesOn(error);
          await delay(awayPauseMs);
          return null;
        },
      );
      const message = signal === undefined ? await pending : await unlessAborted(pending, signal);
      return message === null ? undefined : delivery(message, schema);
    },
    async more(count) {
      const deliveries: Delivery<T>[] = [];
      if (count < 1) return deliveries;
      try {
        const batch = await consumer.fetch({ max_messages: count, expires: moreExpiresMs });
        for await (const message of batch) deliveries.push(delivery(message, schema));
      } catch (error) {
        log?.debug({ err: error, durable }, 'a batch was cut short; the bus may be unavailable');
      }
      return deliveries;
    },
    position: () =>
      whileAway(`asking for the position of ${durable} of ${stream}`, positionDeadlineMs, async () => {
        const { ack_floor, num_pending, num_ack_pending } = await consumer.info();
        return { doneUpTo: ack_floor.stream_seq, leftCount: num_pending + num_ack_pending };
      }),
    async *reread(subject, fromSequence) {
      for (let sequence = fromSequence; ; ) {
        const message = await whileAway(`reading ${subject}`, positionDeadlineMs, () =>
          jsm.direct.getMessage(stream, { seq: sequence, next_by_subj: subject }),
        );
        if (message === null) return;
        const settled = { ack: async () => {}, working: () => {}, nak: () => {}, terminate: () => {} };
        const traceparent = message.header.get('traceparent') || undefined;
        yield {
          ...{ subject, sequence: message.seq, deliveryCount: 2, pendingCount: 0, traceparent },
          ...parsedOf(message, schema),
          ...settled,
        };
        sequence = message.seq + 1;
      }
    },
  };
}

/** Reports trouble that lasts, every `noticeAfterMs`. The bus gives the same answer for a missing durable as during its start. */
function longTrouble(tell: (error: unknown) => void): { goesOn(error: unknown): void; over(): void } {
  let since: number | undefined;
  return {
    goesOn(error) {
      const now = performance.now();
      since ??= now;
      if (now - since < noticeAfterMs) return;
      since = now;
      tell(error);
    },
    over: () => {
      since = undefined;
    },
  };
}

/** Null at once when the signal aborts. A message that arrives later is given back. */
async function unlessAborted(pending: Promise<JsMsg | null>, signal: AbortSignal): Promise<JsMsg | null> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<null>((resolve) => {
    onAbort = () => resolve(null);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  const message = await Promise.race([pending, aborted]);
  if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  if (message === null && signal.aborted) void pending.then((late) => late?.nak());
  return message;
}

function parsedOf<T>(message: StoredMessage, schema: z.ZodType<T>): Pick<Delivery<T>, 'value' | 'problem'> {
  try {
    return { value: parseMessage(message, schema), problem: undefined };
  } catch (error) {
    return { value: undefined, problem: error instanceof Poison ? error : new Poison(messageOf(error)) };
  }
}

function delivery<T>(message: JsMsg, schema: z.ZodType<T>): Delivery<T> {
  return {
    subject: message.subject,
    sequence: message.seq,
    deliveryCount: message.info.deliveryCount,
    pendingCount: message.info.pending,
    ...parsedOf(message, schema),
    traceparent: message.headers?.get('traceparent') || undefined,
    async ack() {
      for (let attempt = 1; attempt <= ackAttempts; attempt += 1) {
        if (await message.ackAck({ timeout: ackTimeoutMs }).catch(() => false)) return;
      }
      throw new BusUnavailable(
        `The acknowledgement of message ${message.seq} on ${message.subject} did not reach the bus; it will be redelivered.`,
      );
    },
    working: () => message.working(),
    nak: (delayMs) => message.nak(delayMs),
    terminate: (reason) => message.term(reason),
  };
}
