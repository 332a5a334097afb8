import { ApiError } from '#shared/errors/api-error.ts';
import { ConcurrentAppend } from '#shared/event-log/concurrent-append.ts';
import { UnknownEvent } from '#shared/event-log/unknown-event.ts';

const deadlineMs = 6_000;

/** Writes are retried by the log itself for 10 seconds; giving up before it does would leave open whether it got through. */
export const writeWithinMs = 12_000;

/**
 * The answer of the bus, or `unavailable` when it fails or takes longer than its deadline. A conflict and what this program cannot read
 * are rejected as they are: waiting does not help there.
 */
export async function askBus<T>(question: Promise<T>, withinMs = deadlineMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The bus did not answer within ${withinMs} ms.`)), withinMs);
  });
  try {
    return await Promise.race([question, late]);
  } catch (error) {
    if (error instanceof ConcurrentAppend || error instanceof UnknownEvent || isMistake(error)) throw error;
    throw new ApiError('unavailable', undefined, { retryAfterSeconds: 2, cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Errors that are about this program and not about the bus. */
function isMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}
