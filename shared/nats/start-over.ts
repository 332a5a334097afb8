import { JetStreamApiCodes, JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import type { ProjectionName } from '#shared/contracts/projection-pointer.ts';
import { type Generation, inGeneration } from '#shared/read-model/generation.ts';
import { projectionTable } from '#shared/subjects/projection-table.ts';
import { durableRows } from '#shared/subjects/subject-table.ts';
import { durableSettings } from './durable-settings.ts';
import { whileAway } from './while-away.ts';

const deadlineMs = 10_000;

/** Empties a projection's part of a generation, then makes its consumer anew. Repeating it does no harm. */
export async function startOver(
  jsm: JetStreamManager,
  projection: ProjectionName,
  generation: Generation,
): Promise<void> {
  const { stream, durable, keys } = projectionTable[projection];
  const name = inGeneration(durable, generation);
  const row = durableRows.find((one) => one.name === name);
  if (row === undefined) throw new Error(`The consumer ${name} is missing from the table.`);
  await whileAway(`removing the consumer ${name}`, deadlineMs, async () => {
    await jsm.consumers.delete(stream, name).catch((error: unknown) => {
      if (!(error instanceof JetStreamApiError && error.code === JetStreamApiCodes.ConsumerNotFound)) throw error;
    });
  });
  for (const { bucket, filter } of keys) {
    const full = inGeneration(bucket, generation);
    await whileAway(`emptying the bucket ${full}`, deadlineMs, () =>
      jsm.streams.purge(`KV_${full}`, { filter: `$KV.${full}.${filter}` }),
    );
  }
  await whileAway(`making the consumer ${name}`, deadlineMs, () => jsm.consumers.add(stream, durableSettings(row)));
}
