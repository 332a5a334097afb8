import type { JetStreamManager } from '@nats-io/jetstream';
import type { QueueDepth } from '../bus.ts';
import { streamRows } from '../subjects/subject-table.ts';
import { whileAway } from './connection.ts';

/** A page waits for the answer. */
const deadlineMs = 1_000;

/** The depths of the work queues, one for each consumer of a stream of tasks, sorted by name. */
export function natsWorkQueues(jsm: JetStreamManager): { depths(): Promise<QueueDepth[]> } {
  const streams = streamRows.filter(({ retention }) => retention === 'work-queue').map(({ name }) => name);
  return {
    async depths() {
      const depths: QueueDepth[] = [];
      for (const stream of streams)
        for (const info of await whileAway(`listing the consumers of ${stream}`, deadlineMs, () => consumersOf(stream)))
          depths.push({
            queue: info.name,
            pending: info.num_pending,
            inFlight: info.num_ack_pending,
            redelivered: info.num_redelivered,
          });
      return depths.toSorted((one, other) => (one.queue < other.queue ? -1 : 1));
    },
  };

  async function consumersOf(stream: string) {
    const found = [];
    for await (const info of jsm.consumers.list(stream)) found.push(info);
    return found;
  }
}
