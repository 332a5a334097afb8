import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { type Generation, inGeneration, type ProjectionName } from '#shared/contracts/read-models.ts';
import { keysOf, projectionTable } from '#shared/messaging/subjects/projection-table.ts';
import {
  type BucketRow,
  bucketRows,
  type DurableRow,
  durableRows,
  renderDurable,
  type StreamRow,
  streamRows,
} from '#shared/messaging/subjects/subject-table.ts';
import { type ConnectionLog, openConnection, whileAway } from './connection.ts';
import { untilRightsAreThere } from './rights.ts';

const deadlineMs = 20_000;

/** A stream or consumer differs from its wanted configuration, and the server would not change it; the message names both. */
class NotAsWanted extends Error {
  override name = 'NotAsWanted';
}

/**
 * Brings streams, buckets and consumers to the state of the table: creates the missing ones, changes those that differ, and reads the
 * configuration back. Rejects when the server has the rights of an older version. It can be repeated, and run twice at once. Each renderer version gets a durable of its own; old ones stay.
 */
export async function provision(options: {
  url: string;
  password: string;
  rendererVersions: string[];
  replicas?: number;
  /** How long the server may take to read a configuration that was written just now. */
  rightsWithinMs?: number;
  log?: ConnectionLog;
}): Promise<void> {
  const connection = await openConnection(
    { url: options.url, user: 'provisioner', password: options.password },
    'provisioner',
    options.log,
  );
  try {
    await untilRightsAreThere(connection, options.rightsWithinMs, options.log);
    const jsm = await jetstreamManager(connection, { checkAPI: false });
    for (const wanted of provisionedStreams(options.replicas ?? 1)) await bringStream(jsm, wanted);
    for (const row of provisionedDurables(options.rendererVersions)) await bringDurable(jsm, row);
  } finally {
    await connection.close();
  }
}

const provisionedStreams = (replicas: number): WantedStream[] => [
  ...streamRows.map((row) => streamSettings(row, replicas)),
  ...bucketRows.map((row) => bucketSettings(row, replicas)),
];

const provisionedDurables = (rendererVersions: readonly string[]): DurableRow[] => [
  ...durableRows,
  ...rendererVersions.map(renderDurable),
];

/** What `provision` would make or change, as sentences; how many streams and consumers it cares for, and what the server says of the streams. */
export async function leftToProvision(jsm: JetStreamManager, rendererVersions: readonly string[]) {
  const problems: string[] = [];
  const streams: StreamInfo[] = [];
  for (const wanted of provisionedStreams(1)) {
    const found = await unlessMissing(jsm.streams.info(wanted.name), JetStreamApiCodes.StreamNotFound);
    if (found !== undefined) streams.push(found);
    // On how many servers it is kept is a choice.
    const same = { ...wanted, num_replicas: found?.config.num_replicas };
    problems.push(...leftOf(`stream ${wanted.name}`, same, found?.config));
  }
  const durables = provisionedDurables(rendererVersions);
  for (const row of durables) {
    const missing = [JetStreamApiCodes.ConsumerNotFound, JetStreamApiCodes.StreamNotFound];
    const found = await unlessMissing(jsm.consumers.info(row.stream, row.name), ...missing);
    problems.push(...leftOf(`consumer ${row.name}`, durableSettings(row), found?.config));
  }
  return { problems, streams, durables: durables.length };
}

function leftOf(what: string, wanted: object, found: object | undefined): string[] {
  if (found === undefined) return [`The ${what} is missing.`];
  const different = differences(wanted, found);
  return different.length === 0 ? [] : [`The ${what} is not as this version needs it: ${different.join(', ')}.`];
}

async function bringStream(jsm: JetStreamManager, wanted: WantedStream): Promise<void> {
  await whileAway(`making the stream ${wanted.name}`, deadlineMs, async () => {
    const found = await unlessMissing(jsm.streams.info(wanted.name), JetStreamApiCodes.StreamNotFound);
    if (found === undefined) {
      await jsm.streams.add(wanted);
    } else {
      const { name, ...rest } = wanted;
      if (differences(wanted, found.config).length > 0) await jsm.streams.update(name, rest);
    }
    const left = differences(wanted, (await jsm.streams.info(wanted.name)).config);
    if (left.length > 0)
      throw new NotAsWanted(`The stream ${wanted.name} could not be brought to its settings: ${left.join(', ')}.`);
  });
}

async function bringDurable(jsm: JetStreamManager, row: DurableRow): Promise<void> {
  const wanted = durableSettings(row);
  await whileAway(`making the consumer ${row.name}`, deadlineMs, async () => {
    const found = await unlessMissing(jsm.consumers.info(row.stream, row.name), JetStreamApiCodes.ConsumerNotFound);
    // The server's "create" also changes an existing consumer of the same name.
    if (found === undefined || differences(wanted, found.config).length > 0)
      await jsm.consumers.add(row.stream, wanted);
    const left = differences(wanted, (await jsm.consumers.info(row.stream, row.name)).config);
    if (left.length > 0)
      throw new NotAsWanted(`The consumer ${row.name} could not be brought to its settings: ${left.join(', ')}.`);
  });
}

async function unlessMissing<T>(answer: Promise<T>, ...missing: number[]): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof JetStreamApiError && missing.includes(error.code)) return undefined;
    throw error;
  }
}

/** The names of settings that are not as wanted. A server leaves out settings at their default, so a missing one counts as empty. */
function differences(wanted: object, found: object): string[] {
  const nothing = new Set<unknown>([undefined, 0, false, '']);
  return Object.entries(wanted).flatMap(([name, value]) => {
    const there = (found as Record<string, unknown>)[name];
    if (nothing.has(value) && nothing.has(there)) return [];
    return JSON.stringify(there) === JSON.stringify(value) ? [] : [name];
  });
}

const startOverDeadlineMs = 10_000;

/**
 * Empties a projection's part of a generation, then makes its consumer anew. It can be repeated. `confirm` rejects when the caller may not
 * do this any more.
 *
 * A process can be paused at any place and wake when another one has filled this generation and it is read. So first it looks how far the
 * buckets have got, then it confirms, and it removes only what was there when it looked: what another process wrote later stays. A consumer
 * that is made anew too late reads its stream once more, which changes nothing.
 */
export async function startOver(
  jsm: JetStreamManager,
  projection: ProjectionName,
  generation: Generation,
  confirm: () => Promise<void>,
): Promise<void> {
  const parts: { stream: string; filter: string; seq: number }[] = [];
  for (const { bucket, filter } of keysOf(projection)) {
    const name = inGeneration(bucket, generation);
    const stream = `KV_${name}`;
    const { state } = await whileAway(`asking how far ${stream} has got`, startOverDeadlineMs, () =>
      jsm.streams.info(stream),
    );
    parts.push({ stream, filter: `$KV.${name}.${filter}`, seq: state.last_seq + 1 });
  }
  await confirm();
  for (const { stream, ...part } of parts) {
    await whileAway(`emptying ${stream}`, startOverDeadlineMs, () => jsm.streams.purge(stream, part));
  }
  await confirm();
  const { stream, row } = readerOf(projection, generation);
  await whileAway(`removing the consumer ${row.name}`, startOverDeadlineMs, () =>
    unlessMissing(jsm.consumers.delete(stream, row.name), JetStreamApiCodes.ConsumerNotFound),
  );
  await makeReader(jsm, projection, generation);
}

/** Makes the consumer of a generation where it is missing: a projector can end between removing one and making it anew. */
export async function makeReader(
  jsm: JetStreamManager,
  projection: ProjectionName,
  generation: Generation,
): Promise<void> {
  const { stream, row } = readerOf(projection, generation);
  await whileAway(`making the consumer ${row.name}`, startOverDeadlineMs, async () => {
    const found = await unlessMissing(jsm.consumers.info(stream, row.name), JetStreamApiCodes.ConsumerNotFound);
    if (found === undefined) await jsm.consumers.add(stream, durableSettings(row));
  });
}

function readerOf(projection: ProjectionName, generation: Generation): { stream: string; row: DurableRow } {
  const { stream, durable } = projectionTable[projection];
  const name = inGeneration(durable, generation);
  const row = durableRows.find((one) => one.name === name);
  if (row === undefined) throw new Error(`The consumer ${name} is missing from the table.`);
  return { stream, row };
}

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
function bucketSettings(row: BucketRow, replicas: number): WantedStream {
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
    // One writer of several could remove what the others wrote with a message that says it stands for the whole stream.
    allow_rollup_hdrs: row.writers.length < 2,
    allow_direct: true,
    // Markers of removed keys end by themselves.
    allow_msg_ttl: true,
    deny_delete: true,
    ...(row.republishTo === undefined ? {} : { republish: { src: `$KV.${row.name}.>`, dest: row.republishTo } }),
  };
}

/** The configuration of a durable consumer of the table; a new one begins at the start of its stream. */
function durableSettings(row: DurableRow): Partial<ConsumerConfig> & { durable_name: string } {
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
