import { setTimeout as delay } from 'node:timers/promises';
import { type ConsumerInfo, JetStreamApiCodes, JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import { type DurableRow, streamRows } from '#shared/messaging/subjects/subject-table.ts';
import { type ConnectionLog, whileAway } from './connection.ts';
import { isWithoutRoom, notAsWanted, unlessMissing } from './not-as-wanted.ts';
import { beginAt, differences, durableSettings } from './wanted-settings.ts';

const deadlineMs = 20_000;
/**
 * Limit of tries. Another provisioner may recreate the same consumer at the same time, so a provisioner that finds it missing or half made
 * tries again.
 */
const mostTries = 10;
const pauseMs = 100;

/** Error code of the server for a setting that is fixed when a consumer is created, such as its kind of acknowledgement. */
const cannotBeUpdated = 10_012;
/** Error code of the server for an update of a consumer that no longer exists. */
const doesNotExist = 10_149;
/** Error code of the server when another provisioner created the consumer in the meantime, with another start. */
const alreadyExists = 10_148;

/** Name of a consumer that nobody reads. It keeps the position of a consumer while that one is recreated. */
const placeKeeper = (durable: string): string => `${durable}-place`;

/**
 * Brings a durable consumer to the settings of the table, whichever version made it, and never loses its position:
 *
 * - settings that the server can change are updated;
 * - a consumer with a setting that the server cannot change is recreated at the first message that was not acknowledged. Meanwhile another
 *   consumer keeps its position, so that nothing is lost if the provisioner dies in between;
 * - a consumer with a former name passes its position to the one that took over its work, and is removed once no service of the previous
 *   version waits at it.
 *
 * Messages that were acknowledged out of order are redelivered, as after a crash. A work queue holds only messages that are not done, so
 * its consumers have no position.
 *
 * Resolves with the information that was read back. Another provisioner may recreate the consumer at any time afterwards.
 */
export async function bringDurable(jsm: JetStreamManager, row: DurableRow, log?: ConnectionLog): Promise<ConsumerInfo> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await whileAway(`making the consumer ${row.name}`, deadlineMs, () => bringOnce(jsm, row, log));
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || tries === mostTries || isWithoutRoom(error)) throw error;
    }
    await delay(pauseMs * (1 + Math.random()));
  }
}

async function bringOnce(jsm: JetStreamManager, row: DurableRow, log?: ConnectionLog): Promise<ConsumerInfo> {
  const wanted = durableSettings(row);
  const found = await infoOf(jsm, row.stream, row.name);
  if (found === undefined) await takePlace(jsm, row, log);
  else if (differences(wanted, found.config).length > 0) await change(jsm, row, found, log);
  const now = await jsm.consumers.info(row.stream, row.name);
  if (differences(wanted, now.config).length > 0) throw notAsWanted(`consumer ${row.name}`, wanted, now.config);
  await removeReplaced(jsm, row, log);
  return now;
}

/** Creates a missing consumer at the position of a consumer that it replaces, or else at the start of its stream. */
async function takePlace(jsm: JetStreamManager, row: DurableRow, log?: ConnectionLog): Promise<void> {
  for (const name of replacedBy(row)) {
    const before = await infoOf(jsm, row.stream, name);
    if (before === undefined) continue;
    const sequence = await placeOf(jsm, before);
    await add(jsm, row, sequence);
    log?.info(`the consumer ${row.name} continues at the position of ${name}: message ${sequence} of ${row.stream}`);
    return;
  }
  await add(jsm, row);
}

async function change(jsm: JetStreamManager, row: DurableRow, found: ConsumerInfo, log?: ConnectionLog): Promise<void> {
  const wanted = durableSettings(row);
  try {
    await jsm.consumers.update(row.stream, row.name, wanted);
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.status === 503 || isGone(error) || isWithoutRoom(error))
      throw error;
    if (error.code !== cannotBeUpdated) throw notAsWanted(`consumer ${row.name}`, wanted, found.config, error);
    await makeAnew(jsm, row, found, log);
  }
}

async function makeAnew(
  jsm: JetStreamManager,
  row: DurableRow,
  found: ConsumerInfo,
  log?: ConnectionLog,
): Promise<void> {
  const settings = differences(durableSettings(row), found.config).join(', ');
  if (isWorkQueue(row)) {
    await remove(jsm, row.stream, row.name);
    await add(jsm, row);
    log?.info(`the consumer ${row.name} was recreated, because the server cannot change its ${settings}`);
    return;
  }
  const sequence = await placeOf(jsm, found);
  const keeper = { ...row, name: placeKeeper(row.name) };
  // A leftover place keeper has an old position of this consumer.
  await remove(jsm, keeper.stream, keeper.name);
  await add(jsm, keeper, sequence);
  await remove(jsm, row.stream, row.name);
  await add(jsm, row, sequence);
  log?.info(
    `the consumer ${row.name} was recreated, because the server cannot change its ${settings}; it continues at message ${sequence} of ${row.stream}`,
  );
}

async function removeReplaced(jsm: JetStreamManager, row: DurableRow, log?: ConnectionLog): Promise<void> {
  for (const name of replacedBy(row)) {
    const replaced = await infoOf(jsm, row.stream, name);
    if (replaced === undefined) continue;
    if (replaced.num_waiting > 0) {
      log?.warn(`a service of another version still reads ${name}; the next "bindery provision" removes this consumer`);
    } else await remove(jsm, row.stream, name);
  }
}

/** Names of consumers whose position this one takes over, by priority. */
const replacedBy = (row: DurableRow): string[] =>
  isWorkQueue(row) ? [] : [placeKeeper(row.name), ...(row.formerly ?? [])];

const isWorkQueue = (row: DurableRow): boolean =>
  streamRows.some(({ name, retention }) => name === row.stream && retention === 'work-queue');

/** The sequence of the first message that was not acknowledged. After a lost tail the stream may be shorter than the consumer's position. */
async function placeOf(
  jsm: JetStreamManager,
  { stream_name: stream, ack_floor: floor }: ConsumerInfo,
): Promise<number> {
  const { state } = await jsm.streams.info(stream);
  return Math.min(floor.stream_seq, state.last_seq) + 1;
}

async function add(jsm: JetStreamManager, row: DurableRow, sequence?: number): Promise<void> {
  try {
    await jsm.consumers.add(row.stream, { ...durableSettings(row), ...beginAt(sequence) });
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === alreadyExists)) throw error;
  }
}

const isGone = ({ code }: JetStreamApiError): boolean =>
  code === doesNotExist || code === JetStreamApiCodes.ConsumerNotFound;

const infoOf = (jsm: JetStreamManager, stream: string, name: string): Promise<ConsumerInfo | undefined> =>
  unlessMissing(jsm.consumers.info(stream, name), JetStreamApiCodes.ConsumerNotFound);

const remove = (jsm: JetStreamManager, stream: string, name: string): Promise<boolean | undefined> =>
  unlessMissing(jsm.consumers.delete(stream, name), JetStreamApiCodes.ConsumerNotFound);
