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

/** Undefined when the part does not exist on the server: the error has one of the given codes. */
export async function unlessMissing<T>(answer: Promise<T>, ...missing: number[]): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof JetStreamApiError && missing.includes(error.code)) return undefined;
    throw error;
  }
}
