import type { JetStreamClient } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { BusUnavailable } from '../bus.ts';
import { bucketRows, type BusUser } from '../subjects/subject-table.ts';

const checkDeadlineMs = 1_500;
/** Time for which a result is cached, because each check writes to a disk. */
const answerHoldsMs = 2_000;
/** Time after which a refusal no longer counts, so that some request tries the stream again. */
const refusalHoldsMs = 30_000;

/** The last refusal of each stream, with its time. A stream that stores again is removed. */
const refusals = new WeakMap<JetStreamClient, Map<string, { reason: string; at: number }>>();

/** Records for the readiness of this connection whether a stream stored a message. `reason` is absent when it did. */
export function noteWrite(js: JetStreamClient, subject: string, reason?: string): void {
  const stream = subject.split('.')[0] ?? '';
  const known = refusals.get(js) ?? new Map<string, { reason: string; at: number }>();
  if (reason === undefined) known.delete(stream);
  else known.set(stream, { reason, at: performance.now() });
  refusals.set(js, known);
}

/**
 * Tells whether a connection can write. It stores a small document in the bucket `readiness`, under the key of the service. A server may
 * refuse the writes of a single stream, so refusals of real writes count as well: for half a minute, or until the connection is
 * re-established.
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
      throw new BusUnavailable(`The bus does not store new messages: ${refused[1].reason}`);
    }
    if (!writes) return;
    if (last === undefined || performance.now() - last.at > answerHoldsMs) {
      last = { at: performance.now(), answer: ask() };
    }
    await last.answer;
  };
}
