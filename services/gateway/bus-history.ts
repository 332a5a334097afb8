import type { Commit } from '#shared/contracts/commit.ts';
import type { EventLog, StoredCommit } from '#shared/event-log/event-log.ts';
import { askBus } from './ask-bus.ts';

/** The history of a subject, with a deadline for every step and `unavailable` when the bus fails. */
export async function* busHistory<C extends Commit>(
  log: Pick<EventLog<C>, 'history'>,
  subject: string,
): AsyncGenerator<StoredCommit<C>> {
  const commits = log.history(subject)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await askBus(commits.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not waited for: a log that hangs would hang here, too.
    void commits.return?.()?.catch(() => {});
  }
}
