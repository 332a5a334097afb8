import { AckPolicy, type ConsumerConfig, DeliverPolicy } from '@nats-io/jetstream';
import type { DurableRow } from '#shared/subjects/subject-table.ts';

const nanosPerSecond = 1_000_000_000;

/** The configuration of a durable consumer of the table; a new one begins at the start of its stream. */
export function durableSettings(row: DurableRow): Partial<ConsumerConfig> & { durable_name: string } {
  return {
    durable_name: row.name,
    filter_subject: row.filter,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: row.ackWaitSeconds * nanosPerSecond,
    max_ack_pending: row.maxAckPending,
    max_deliver: -1,
  };
}
