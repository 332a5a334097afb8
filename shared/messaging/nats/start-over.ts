import { JetStreamApiCodes, type JetStreamManager } from '@nats-io/jetstream';
import { type Generation, inGeneration, type ProjectionName } from '#shared/interfaces/read-models.ts';
import { keysOf, projectionTable } from '#shared/messaging/subjects/projection-table.ts';
import { type DurableRow, durableRows } from '#shared/messaging/subjects/subject-table.ts';
import { whileAway } from './connection.ts';
import { unlessMissing } from './not-as-wanted.ts';
import { beginAt, durableSettings } from './wanted-settings.ts';

const startOverDeadlineMs = 10_000;

/**
 * Empties a projection's part of a generation, then recreates its consumer. It can be repeated. `confirm` rejects when the caller may no
 * longer do this.
 *
 * A process can be paused at any point and resume after another one has filled this generation and it is read. So it first reads the last
 * sequences of the buckets, then confirms, and removes only documents up to those sequences: later documents of another process stay. A
 * consumer that is recreated too late reads its stream once more, which changes nothing.
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
    const { state } = await whileAway(`asking for the newest message of ${stream}`, startOverDeadlineMs, () =>
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

/** Creates the consumer of a generation if it is missing: a projector can end between removing and recreating it. */
export async function makeReader(
  jsm: JetStreamManager,
  projection: ProjectionName,
  generation: Generation,
): Promise<void> {
  const { stream, row } = readerOf(projection, generation);
  await whileAway(`making the consumer ${row.name}`, startOverDeadlineMs, async () => {
    const found = await unlessMissing(jsm.consumers.info(stream, row.name), JetStreamApiCodes.ConsumerNotFound);
    if (found === undefined) await jsm.consumers.add(stream, { ...durableSettings(row), ...beginAt() });
  });
}

/** Bucket of the pointers. Without its pointer a projection reads the blue generation, which may have been emptied. */
const pointerBucket = 'projections';

/**
 * The latest time at which a bucket of a generation, or the bucket of pointers, was made, if that is later than the generation's reader. Such a
 * bucket was deleted and made again, so it lacks the documents of all messages that were read before.
 */
export async function lostDocumentsAt(
  jsm: JetStreamManager,
  projection: ProjectionName,
  generation: Generation,
): Promise<string | undefined> {
  const { stream, row } = readerOf(projection, generation);
  return await whileAway(`comparing the age of ${row.name} with its buckets`, startOverDeadlineMs, async () => {
    const reader = await jsm.consumers.info(stream, row.name);
    const buckets = keysOf(projection).map(({ bucket }) => inGeneration(bucket, generation));
    let latest = reader.created;
    for (const bucket of [pointerBucket, ...buckets]) {
      const { created } = await jsm.streams.info(`KV_${bucket}`);
      if (Date.parse(created) > Date.parse(latest)) latest = created;
    }
    return latest === reader.created ? undefined : latest;
  });
}

function readerOf(projection: ProjectionName, generation: Generation): { stream: string; row: DurableRow } {
  const { stream, durable } = projectionTable[projection];
  const name = inGeneration(durable, generation);
  const row = durableRows.find((one) => one.name === name);
  if (row === undefined) throw new Error(`The consumer ${name} is missing from the table.`);
  return { stream, row };
}
