import type { JetStreamClient } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { BusUnavailable } from '../bus.ts';
import { bucketRows, type BusUser } from '../subjects/subject-table.ts';

const checkDeadlineMs = 1_500;
/** Whoever asks more often gets the last answer: it is a write to a disk. */
const answerHoldsMs = 2_000;
/** Then somebody has to try again whether the stream still refuses. */
const refusalHoldsMs = 30_000;

/** By stream: what it refused last, and when. A stream that stores again is taken out. */
const refusals = new WeakMap<JetStreamClient, Map<string, { reason: string; at: number }>>();

/** Remembers for the readiness of this connection whether a stream took a message. `reason` is absent when it did. */
export function noteWrite(js: JetStreamClient, subject: string, reason?: string): void {
  const stream = subject.split('.')[0] ?? '';
  const known = refusals.get(js) ?? new Map<string, { reason: string; at: number }>();
  if (reason === undefined) known.delete(stream);
  else known.set(stream, { reason, at: performance.now() });
  refusals.set(js, known);
}

/**
 * Whether a connection can write. It stores a document for real, in a bucket of one small document for each service. But a server
 * may refuse the writes of one stream alone, so what real writes met in the last half minute counts as well; until the server starts again.
 */
export function writeReadiness(connection: NatsConnection, js: JetStreamClient, user: BusUser): () => Promise<void> {
  const writes = bucketRows.some(({ name, writers }) => name === 'readiness' && writers.includes(user));
  let last: { at: number; answer: Promise<void> } | undefined;
  void (async () => {
    for await (const { type } of connection.status()) if (type === 'reconnect') refusals.delete(js);
  })();
  const ask = async (): Promise<void> => {
    const late = () =>
      new BusUnavailable(
        `The bus answers, but did not store a document within ${checkDeadlineMs} ms. Is its disk full?`,
      );
    const stored = js.publish(`$KV.readiness.${user}`, JSON.stringify({ at: new Date().toISOString() }), {
      timeout: checkDeadlineMs,
    });
    await withDeadline(stored, checkDeadlineMs, late).catch((error: unknown) => {
      throw error instanceof BusUnavailable ? error : Object.assign(late(), { cause: error });
    });
  };
  return async () => {
    const refused = [...(refusals.get(js) ?? [])].find(([, { at }]) => performance.now() - at < refusalHoldsMs);
    if (refused !== undefined) {
      throw new BusUnavailable(`The bus does not store what it is sent: ${refused[1].reason}`);
    }
    if (!writes) return;
    if (last === undefined || performance.now() - last.at > answerHoldsMs) {
      last = { at: performance.now(), answer: ask() };
    }
    await last.answer;
  };
}
