import type { Commit } from '#shared/contracts/commit.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { inParallel } from '#shared/export-objects/in-parallel.ts';
import { foldInOrder } from './fold-in-order.ts';
import type { Projection } from './projection.ts';

/** How one batch of messages of a log is folded into stores that are written at its end. */
export type Fold<M> = {
  /** Reads together what `one` will need; whatever fails here shows there. */
  prepare(messages: readonly M[]): Promise<void>;
  /** Folds one message. Repeating it, also after later ones, changes nothing. */
  one(message: M): Promise<void>;
  /** What is done once for all messages of the batch; everything has been put when it answers. */
  finish(): Promise<void>;
};

const readsAtOnce = 32;

/** Commits, each aggregate's in the order of its revisions. */
export function commitFold<C extends Commit, D extends { revision: number }>(
  projection: Projection<C, D>,
  log: Pick<EventLog<C>, 'history'>,
): Fold<C> {
  return {
    async prepare(commits) {
      const keys = new Set(commits.map((commit) => projection.keyOf(commit)));
      await inParallel([...keys], readsAtOnce, (key) => projection.primary.get(key).catch(() => undefined));
    },
    one: (commit) => foldInOrder(projection, log, commit),
    finish: async () => projection.finish?.(),
  };
}
