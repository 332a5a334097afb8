import type { Commit } from '#shared/contracts/commit.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { HistoryBroken } from './history-broken.ts';
import { type Projection, writeCommit } from './projection.ts';

/**
 * Brings an aggregate's documents up to `commit`. Older commits than the documents reflect are skipped; when commits in between have not
 * been seen, they are read from the log. Throws `HistoryBroken` when the log does not have them, and never folds over a hole.
 */
export async function foldInOrder<C extends Commit, D extends { revision: number }>(
  projection: Projection<C, D>,
  log: Pick<EventLog<C>, 'history'>,
  commit: C,
): Promise<void> {
  for (;;) {
    const stored = await projection.primary.get(projection.keyOf(commit), { fromLeader: true });
    const reflected = stored?.document.revision ?? 0;
    if (commit.revision <= reflected) return;
    const next = commit.revision === reflected + 1 ? commit : await commitAfter(log, commit, reflected);
    const written = await writeCommit(projection, next, stored);
    if (written && next.revision === commit.revision) return;
  }
}

/** The commit with revision `reflected + 1`, once the history up to `commit` has shown itself to be whole. */
async function commitAfter<C extends Commit>(
  log: Pick<EventLog<C>, 'history'>,
  commit: C,
  reflected: number,
): Promise<C> {
  let found: C | undefined;
  let previous: C | undefined;
  for await (const { commit: read } of log.history(commit.subject)) {
    if (read.revision !== (previous?.revision ?? 0) + 1 || read.previousHash !== (previous?.hash ?? '')) {
      throw new HistoryBroken(commit.subject, previous?.revision ?? 0, read.revision);
    }
    if (read.revision === reflected + 1) found = read;
    previous = read;
    if (read.revision === commit.revision) break;
  }
  if (found === undefined || previous?.hash !== commit.hash) {
    throw new HistoryBroken(commit.subject, previous?.revision ?? 0, commit.revision);
  }
  return found;
}
