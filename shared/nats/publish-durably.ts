import type { JetStreamClient, PubAck } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { whileAway } from './while-away.ts';

const attemptTimeoutMs = 3_000;
const deadlineMs = 10_000;

export type DurableMessage = {
  subject: string;
  body: unknown;
  /** Message ids are unique per stream, so they begin with the subject. */
  messageId: string;
  traceparent?: string | undefined;
  lastSubjectSequence?: number;
};

/** Stores one message, over reconnects, and answers when the server has it. Rejects with `BusUnavailable` or the server's refusal. */
export function publishDurably(js: JetStreamClient, message: DurableMessage): Promise<PubAck> {
  const head = headers();
  if (message.traceparent !== undefined) head.set('traceparent', message.traceparent);
  const payload = JSON.stringify(message.body);
  return whileAway(`publishing to ${message.subject}`, deadlineMs, () =>
    js.publish(message.subject, payload, {
      msgID: `${message.subject}:${message.messageId}`,
      headers: head,
      timeout: attemptTimeoutMs,
      ...(message.lastSubjectSequence === undefined
        ? {}
        : { expect: { lastSubjectSequence: message.lastSubjectSequence } }),
    }),
  );
}
