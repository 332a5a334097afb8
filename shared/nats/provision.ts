import { JetStreamApiCodes, JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { bucketRows, type DurableRow, durableRows, renderDurable, streamRows } from '#shared/subjects/subject-table.ts';
import { durableSettings } from './durable-settings.ts';
import { openConnection } from './connection.ts';
import { bucketSettings, streamSettings, type WantedStream } from './stream-settings.ts';
import { whileAway } from './while-away.ts';

const deadlineMs = 20_000;

/** What is there differs from what was asked for, and the server would not change it; the message names stream and setting. */
export class NotAsWanted extends Error {
  override name = 'NotAsWanted';
}

/**
 * Brings streams, buckets and consumers to the state of the table: creates what is missing, changes what differs, and reads the
 * configuration back. Safe to repeat, and to run twice at once. Each renderer version gets a durable of its own; old ones stay.
 */
export async function provision(options: {
  url: string;
  password: string;
  rendererVersions: string[];
  replicas?: number;
}): Promise<void> {
  const connection = await openConnection(
    { url: options.url, user: 'provisioner', password: options.password },
    'provisioner',
  );
  try {
    const jsm = await jetstreamManager(connection, { checkAPI: false });
    const replicas = options.replicas ?? 1;
    const streams = [
      ...streamRows.map((row) => streamSettings(row, replicas)),
      ...bucketRows.map((row) => bucketSettings(row, replicas)),
    ];
    for (const wanted of streams) await bringStream(jsm, wanted);
    for (const row of [...durableRows, ...options.rendererVersions.map(renderDurable)]) await bringDurable(jsm, row);
  } finally {
    await connection.close();
  }
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

async function unlessMissing<T>(answer: Promise<T>, missing: number): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === missing) return undefined;
    throw error;
  }
}

/** Settings that are not as wanted. A server leaves out what is at its default, so a missing one counts as nothing. */
function differences(wanted: object, found: object): string[] {
  const nothing = new Set<unknown>([undefined, 0, false, '']);
  return Object.entries(wanted).flatMap(([name, value]) => {
    const there = (found as Record<string, unknown>)[name];
    if (nothing.has(value) && nothing.has(there)) return [];
    return JSON.stringify(there) === JSON.stringify(value) ? [] : [name];
  });
}
