import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  PersistMode,
  ReplayPolicy,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import {
  type BucketRow,
  type DurableRow,
  type StreamRow,
  streamRows,
} from '#shared/messaging/subjects/subject-table.ts';

/*
 * The server's settings for a stream, bucket or consumer of the table. A setting that another version of Bindery may have set, but this one
 * does not, is listed as undefined, which is the server's default.
 */

const nanosPerSecond = 1_000_000_000;
const daySeconds = 86_400;
/** Covers retries of the transport only; real idempotency comes from the guarded append and the commit's id. */
const duplicateWindowSeconds = 120;

export type WantedStream = Partial<StreamConfig> & { name: string; subjects: string[] };

/** The operator chooses the number of replicas, the storage limit, the compression and the placement of a stream. */
const unsetInStreams = ['discard_new_per_subject', 'republish', 'subject_transform'] as const;

/** Settings that switch off limits, because a limit would refuse or remove messages. A sealed stream refuses every message. */
const unlimited = {
  max_msgs: -1,
  max_msg_size: -1,
  max_consumers: -1,
  no_ack: false,
  sealed: false,
};

const unsetInDurables = [
  ...['filter_subjects', 'backoff', 'inactive_threshold', 'headers_only', 'mem_storage'],
  ...['max_batch', 'max_bytes', 'max_expires', 'priority_groups'],
] as const;

/** The settings, with the named ones that are missing as undefined. */
const withUnset = <T extends object>(names: readonly string[], settings: T): T => ({
  ...Object.fromEntries(names.map((name) => [name, undefined])),
  ...settings,
});

/**
 * The configuration of a stream of the table. `replicas`: 1, or 3 in a cluster over three zones. Replicas of passing messages are in memory. A server
 * that runs alone forgets a stream in memory, and its name, when it restarts. So it has such a stream on its disk, and does not wait for it.
 */
export function streamSettings(row: StreamRow, replicas: number): WantedStream {
  const passing =
    row.retention !== 'passing'
      ? { storage: StorageType.File }
      : replicas > 1
        ? { storage: StorageType.Memory }
        : { storage: StorageType.File, persist_mode: PersistMode.Async };
  return withUnset(unsetInStreams, {
    ...unlimited,
    name: row.name,
    subjects: [...row.subjects],
    ...passing,
    retention: row.retention === 'work-queue' ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
    discard: row.retention === 'passing' ? DiscardPolicy.Old : DiscardPolicy.New,
    num_replicas: replicas,
    max_age: (row.keptMinutes === undefined ? (row.keptDays ?? 0) * daySeconds : row.keptMinutes * 60) * nanosPerSecond,
    duplicate_window: duplicateWindowSeconds * nanosPerSecond,
    allow_direct: true,
    max_msgs_per_subject: -1,
    // A message with a rollup header replaces the whole stream.
    allow_rollup_hdrs: false,
    deny_delete: row.retention !== 'work-queue',
    ...(row.hasOwnRetention === true && { allow_msg_ttl: true }),
  });
}

/**
 * The wanted settings for a stream that exists. The storage of a stream cannot change, so a stream of passing messages keeps that of its installation,
 * and one without replicas cannot get any.
 */
export function settingsFor(wanted: WantedStream, found: StreamConfig | undefined): WantedStream {
  const isPassing = streamRows.some(({ name, retention }) => name === wanted.name && retention === 'passing');
  if (!isPassing || found === undefined) return wanted;
  const { storage, persist_mode: persistMode, num_replicas: replicas } = found;
  const keepsOne = persistMode === PersistMode.Async;
  return {
    ...wanted,
    storage,
    persist_mode: persistMode,
    num_replicas: keepsOne ? replicas : wanted.num_replicas,
  } as WantedStream;
}

/**
 * The configuration of the stream of a key-value bucket (ADR-8 of the NATS architecture), which keeps the newest value of each key and allows direct
 * reads.
 */
export function bucketSettings(row: BucketRow, replicas: number): WantedStream {
  const maxAgeSeconds = row.ttlSeconds ?? 0;
  return withUnset(unsetInStreams, {
    ...unlimited,
    name: `KV_${row.name}`,
    subjects: [`$KV.${row.name}.>`],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    num_replicas: replicas,
    max_msgs_per_subject: 1,
    max_age: maxAgeSeconds * nanosPerSecond,
    duplicate_window: (maxAgeSeconds === 0 ? duplicateWindowSeconds : maxAgeSeconds) * nanosPerSecond,
    // A message with a rollup header replaces the whole stream, so in a bucket with several writers one could remove the documents of the others.
    allow_rollup_hdrs: row.writers.length < 2,
    allow_direct: true,
    // Lets tombstones of removed keys expire.
    allow_msg_ttl: true,
    deny_delete: true,
    ...(row.republishTo === undefined ? {} : { republish: { src: `$KV.${row.name}.>`, dest: row.republishTo } }),
  });
}

export type WantedDurable = Partial<ConsumerConfig> & { durable_name: string };

/** The configuration of a durable consumer of the table, without its start: an existing consumer has its own position. */
export function durableSettings(row: DurableRow): WantedDurable {
  return withUnset(unsetInDurables, {
    durable_name: row.name,
    filter_subject: row.filter,
    ack_policy: AckPolicy.Explicit,
    replay_policy: ReplayPolicy.Instant,
    ack_wait: row.ackWaitSeconds * nanosPerSecond,
    max_ack_pending: row.maxAckPending,
    max_deliver: -1,
  });
}

/** The start of a new consumer: this sequence, by default the start of its stream. */
export const beginAt = (sequence = 1): Pick<ConsumerConfig, 'deliver_policy'> & Partial<ConsumerConfig> =>
  sequence <= 1
    ? { deliver_policy: DeliverPolicy.All }
    : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: sequence };

/** The names of settings that differ from the wanted ones. A server leaves out settings at their default, so a missing one counts as empty. */
export function differences(wanted: object, found: object): string[] {
  const nothing = new Set<unknown>([undefined, 0, false, '']);
  return Object.entries(wanted).flatMap(([name, value]) => {
    const there = (found as Record<string, unknown>)[name];
    if (nothing.has(value) && nothing.has(there)) return [];
    return JSON.stringify(there) === JSON.stringify(value) ? [] : [name];
  });
}

/** The differences as text: `retention is "limits" and must be "workqueue"`. */
export function describeDifferences(wanted: object, found: object): string {
  const shown = (settings: object, name: string) =>
    JSON.stringify((settings as Record<string, unknown>)[name]) ?? 'not set';
  return differences(wanted, found)
    .map((name) => `${name} is ${shown(found, name)} and must be ${shown(wanted, name)}`)
    .join('; ');
}
