import { setTimeout as delay } from 'node:timers/promises';
import type { Commit } from '#shared/contracts/commit.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { EventLog, StoredCommit } from '#shared/messaging/log/event-log.ts';
import { Conflict, Poison } from '#shared/runtime/failures.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';

const deadlineMs = 6_000;

/** Deadline for writes. The log retries a write for 10 seconds, so after a shorter deadline its outcome would be unknown. */
export const writeWithinMs = 12_000;

/**
 * The answer of the bus, or `unavailable` when it fails or exceeds its deadline. Conflicts and unreadable messages are thrown unchanged, because
 * waiting does not help.
 */
export async function askBus<T>(question: Promise<T>, withinMs = deadlineMs): Promise<T> {
  try {
    return await withDeadline(question, withinMs, () => new Error(`The bus did not answer within ${withinMs} ms.`));
  } catch (error) {
    if (error instanceof ApiError || error instanceof Conflict || error instanceof Poison || isMistake(error))
      throw error;
    throw new ApiError('unavailable', undefined, { retryAfterSeconds: 2, cause: error });
  }
}

/**
 * A log for the commands of clients. Each step has its own deadline. A deadline for the whole command could pass during its append, whose outcome
 * would then be unknown.
 */
export const askedLog = <C extends Commit>(
  log: Pick<EventLog<C>, 'last' | 'append'>,
): Pick<EventLog<C>, 'last' | 'append'> => ({
  last: (subject, options) => askBus(log.last(subject, options)),
  append: (commit, after) => askBus(log.append(commit, after), writeWithinMs),
});

/** True for errors of this program, not of the bus. */
function isMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

/** The history of a subject, with a deadline for every step and `unavailable` when the bus fails. */
export const busHistory = <C extends Commit>(
  log: Pick<EventLog<C>, 'history'>,
  subject: string,
): AsyncGenerator<StoredCommit<C>> => eachAnswer(log.history(subject));

/** A stream of answers from the bus, with a deadline for every step and `unavailable` when it fails. */
export async function* eachAnswer<T>(asked: AsyncIterable<T>): AsyncGenerator<T> {
  const answers = asked[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await askBus(answers.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // This is not awaited, because a log that hangs would hang here as well.
    void answers.return?.()?.catch(() => {});
  }
}

const visibleWithinMs = 2_000;
const firstPauseMs = 2;
const longestPauseMs = 50;

/**
 * Read your writes: resolves when a read model shows a revision that was just written, so that the client can use it at once. Throws `unavailable`
 * after two seconds; the change stays stored and shows up later.
 */
export async function waitForRevision<T extends { revision: number }>(
  store: DocumentStore<T>,
  key: string,
  revision: number,
): Promise<T> {
  const end = performance.now() + visibleWithinMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const leftMs = end - performance.now();
    if (leftMs <= 0) {
      throw new ApiError(
        'unavailable',
        'The change was stored, but is not visible everywhere yet. Read it again in a moment; do not repeat the change.',
        { retryAfterSeconds: 2 },
      );
    }
    const stored = await askBus(store.get(key, { fromLeader: true }), leftMs).catch((error: unknown) => {
      // The projector will overwrite the unreadable document.
      if (error instanceof Poison) return undefined;
      throw error;
    });
    if (stored !== undefined && stored.document.revision >= revision) return stored.document;
    await delay(pauseMs);
  }
}
