import {
  type ConsumerInfo,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import {
  bucketRows,
  type DurableRow,
  durableRows,
  renderDurable,
  streamRows,
} from '#shared/messaging/subjects/subject-table.ts';
import { bringDurable } from './bring-durable.ts';
import { type ConnectionLog, openConnection, whileAway } from './connection.ts';
import { asNoRoom, notAsWanted, unlessMissing } from './not-as-wanted.ts';
import { untilRightsAreThere } from './rights.ts';
import {
  bucketSettings,
  differences,
  durableSettings,
  settingsFor,
  streamSettings,
  type WantedStream,
} from './wanted-settings.ts';

const deadlineMs = 20_000;

/**
 * Brings streams, buckets and consumers to the state of the table, whichever version of Bindery made them: creates the missing ones,
 * changes those that differ, and reads the configuration back. Rejects when the server has the rights of an older version, and with a
 * `NotAsWanted` when the data is of another version and cannot be migrated. It can be repeated, also after it died halfway, and run twice
 * at once. Each renderer version gets its own durable; old ones stay. `log` receives a line for each recreated consumer.
 */
export async function provision(options: {
  url: string;
  password: string;
  rendererVersions: string[];
  replicas?: number;
  /** Also resumes consumers that were paused by hand. A pause may be deliberate, so without this option `log` only receives a warning. */
  resume?: boolean;
  /** Timeout for the server to read a configuration that was just written. */
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
    const withRoom = <T>(what: string, making: Promise<T>): Promise<T> =>
      making.catch((error: unknown) => Promise.reject(asNoRoom(what, error)));
    for (const wanted of provisionedStreams(options.replicas ?? 1)) {
      await withRoom(`the stream ${wanted.name}`, bringStream(jsm, wanted));
    }
    for (const row of provisionedDurables(options.rendererVersions)) {
      const made = await withRoom(`the consumer ${row.name}`, bringDurable(jsm, row, options.log));
      await settlePause(jsm, made, options);
    }
  } finally {
    await connection.close();
  }
}

async function settlePause(
  jsm: JetStreamManager,
  consumer: ConsumerInfo,
  { resume = false, log }: { resume?: boolean; log?: ConnectionLog },
): Promise<void> {
  const paused = pauseOf(consumer);
  if (paused === undefined) return;
  if (!resume) return log?.warn(`${pauseText(paused)} ${howToResume}`);
  const { stream, name } = paused;
  // A consumer that is missing here is being recreated by another provisioner, which does not pause it.
  await unlessMissing(jsm.consumers.resume(stream, name), JetStreamApiCodes.ConsumerNotFound);
  log?.info(`the consumer ${name} of ${stream} was paused until ${paused.until}, and is resumed`);
}

/** A consumer that was paused by hand, and the end of its pause. The server delivers no message to its reader until then. */
export type Pause = { stream: string; name: string; until: string };

function pauseOf({ stream_name: stream, name, paused, config }: ConsumerInfo): Pause | undefined {
  return paused === true ? { stream, name, until: config.pause_until ?? 'later' } : undefined;
}

/** A sentence about a paused consumer and its service. */
export const pauseText = ({ stream, name, until }: Pause): string =>
  `The consumer ${name} of ${stream} was paused by hand: its service gets no message until ${until}.`;

export const howToResume = 'If the service should not wait, run "bindery provision --resume".';

const provisionedStreams = (replicas: number): WantedStream[] => [
  ...streamRows.map((row) => streamSettings(row, replicas)),
  ...bucketRows.map((row) => bucketSettings(row, replicas)),
];

const provisionedDurables = (rendererVersions: readonly string[]): DurableRow[] => [
  ...durableRows,
  ...rendererVersions.map(renderDurable),
];

/**
 * The changes that `provision` would make, as sentences, with the number of streams and consumers that it manages, the server's information
 * about the streams, and the paused consumers.
 */
export async function leftToProvision(jsm: JetStreamManager, rendererVersions: readonly string[]) {
  const problems: string[] = [];
  const streams: StreamInfo[] = [];
  for (const wanted of provisionedStreams(1)) {
    const found = await unlessMissing(jsm.streams.info(wanted.name), JetStreamApiCodes.StreamNotFound);
    if (found !== undefined) streams.push(found);
    // The number of replicas is the operator's choice.
    const same = { ...settingsFor(wanted, found?.config), num_replicas: found?.config.num_replicas };
    problems.push(...leftOf(`stream ${wanted.name}`, same, found?.config));
  }
  const paused: Pause[] = [];
  const durables = provisionedDurables(rendererVersions);
  for (const row of durables) {
    const missing = [JetStreamApiCodes.ConsumerNotFound, JetStreamApiCodes.StreamNotFound];
    const found = await unlessMissing(jsm.consumers.info(row.stream, row.name), ...missing);
    problems.push(...leftOf(`consumer ${row.name}`, durableSettings(row), found?.config));
    const pause = found && pauseOf(found);
    if (pause !== undefined) paused.push(pause);
  }
  return { problems, streams, durables: durables.length, paused };
}

function leftOf(what: string, wanted: object, found: object | undefined): string[] {
  if (found === undefined) return [`The ${what} is missing.`];
  const different = differences(wanted, found);
  return different.length === 0
    ? []
    : [`The ${what} differs from the settings of this version: ${different.join(', ')}.`];
}

async function bringStream(jsm: JetStreamManager, wanted: WantedStream): Promise<void> {
  const what = `stream ${wanted.name}`;
  await whileAway(`making the ${what}`, deadlineMs, async () => {
    const found = await unlessMissing(jsm.streams.info(wanted.name), JetStreamApiCodes.StreamNotFound);
    const { name, ...settings } = settingsFor(wanted, found?.config);
    if (found === undefined) await jsm.streams.add(wanted);
    else if (differences(settings, found.config).length > 0) {
      await jsm.streams.update(name, settings).catch((error: unknown) => {
        // A stream holds the data, so it is never recreated.
        const isRefused = error instanceof JetStreamApiError && error.status !== 503;
        throw isRefused ? notAsWanted(what, settings, found.config, error) : error;
      });
    }
    const { config } = await jsm.streams.info(name);
    const now = settingsFor(wanted, config);
    if (differences(now, config).length > 0) throw notAsWanted(what, now, config);
  });
}
