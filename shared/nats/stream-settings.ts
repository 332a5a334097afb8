import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream';
import type { BucketRow, StreamRow } from '#shared/subjects/subject-table.ts';

const nanosPerSecond = 1_000_000_000;
const daySeconds = 86_400;
/** Covers transport retries only; true idempotency is the guard plus the commit's id. */
const duplicateWindowSeconds = 120;

export type WantedStream = Partial<StreamConfig> & { name: string; subjects: string[] };

/** The configuration of a stream of the table. `replicas`: 1, or 3 in a cluster over three zones. */
export function streamSettings(row: StreamRow, replicas: number): WantedStream {
  return {
    name: row.name,
    subjects: [...row.subjects],
    storage: StorageType.File,
    retention: row.retention === 'work-queue' ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    num_replicas: replicas,
    max_age: (row.keptDays ?? 0) * daySeconds * nanosPerSecond,
    duplicate_window: duplicateWindowSeconds * nanosPerSecond,
    allow_direct: true,
    deny_delete: row.retention === 'log',
  };
}

/** The configuration of the stream behind a key-value bucket (ADR-8 of the NATS architecture): newest value per key, direct reads. */
export function bucketSettings(row: BucketRow, replicas: number): WantedStream {
  const maxAgeSeconds = row.ttlSeconds ?? 0;
  return {
    name: `KV_${row.name}`,
    subjects: [`$KV.${row.name}.>`],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    num_replicas: replicas,
    max_msgs_per_subject: 1,
    max_age: maxAgeSeconds * nanosPerSecond,
    duplicate_window: (maxAgeSeconds === 0 ? duplicateWindowSeconds : maxAgeSeconds) * nanosPerSecond,
    allow_rollup_hdrs: true,
    allow_direct: true,
    deny_delete: true,
    ...(row.republishTo === undefined ? {} : { republish: { src: `$KV.${row.name}.>`, dest: row.republishTo } }),
  };
}
