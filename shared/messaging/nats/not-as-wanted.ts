import { JetStreamApiError } from '@nats-io/jetstream';
import { messageOf } from '#shared/runtime/failures.ts';
import { describeDifferences } from './wanted-settings.ts';

/** A stream or consumer differs from its wanted settings and the server does not change it. The message tells the operator what to do. */
class NotAsWanted extends Error {
  override name = 'NotAsWanted';
}

/** `what`: such as `stream EXPORTS`. `refusal`: the server's error; absent when it accepted the change without applying it. */
export function notAsWanted(what: string, wanted: object, found: object, refusal?: unknown): NotAsWanted {
  const reason = refusal === undefined ? 'nats-server did not change it' : `nats-server refuses: ${messageOf(refusal)}`;
  return new NotAsWanted(
    `The ${what} has the settings of another version of Bindery: ${describeDifferences(wanted, found)}, and ${reason}. ` +
      `Start the version that last used this data, or restore a copy of the data from before that version.`,
    { cause: refusal },
  );
}

/** nats-server has no room for a new stream or consumer. Nothing that it stores is lost. The message tells the operator what to do. */
class NoRoom extends Error {
  override name = 'NoRoom';
}

/** The server's words for a disk or a storage limit that is full. Its error codes are those of other failures, too. */
const withoutRoom =
  /no space left on device|disk quota exceeded|error creating store|insufficient (storage )?resources|storage resources exceeded/i;

export const isWithoutRoom = (error: unknown): boolean =>
  error instanceof JetStreamApiError && withoutRoom.test(error.message);

/** The error of making `what`, such as `the stream EXPORTS`, as a sentence if the server had no room. Other errors are returned unchanged. */
export function asNoRoom(what: string, error: unknown): unknown {
  if (!isWithoutRoom(error)) return error;
  return new NoRoom(
    `nats-server cannot make ${what}, because its disk is full (${messageOf(error)}). Make room there, then repeat this. Nothing that is stored is lost.`,
    { cause: error },
  );
}

/** Returns the answer, or undefined when the part does not exist on the server, which the given error codes mean. */
export async function unlessMissing<T>(answer: Promise<T>, ...missing: number[]): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof JetStreamApiError && missing.includes(error.code)) return undefined;
    throw error;
  }
}
