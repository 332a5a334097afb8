import { setTimeout as delay } from 'node:timers/promises';
import type { Actor, Aggregate, Commit, CommitEvent, EventMetadata, RequestBehind } from '#shared/contracts/commit.ts';
import { Conflict } from '#shared/runtime/failures.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { Clock, RandomDigits } from '#shared/runtime/time-and-ids.ts';
import { nextCommit } from './commit-chain.ts';
import type { EventLog, StoredCommit } from './event-log.ts';

/** The actor and cause of a command. */
type CommandOrigin = {
  /** Name of the service or of its instance. */
  source: string;
  actor: Actor;
  /** Id of the message that caused the command: a request, a fact or a commit. */
  causationId: string;
  correlationId: string;
  request?: RequestBehind | undefined;
  traceparent?: string | undefined;
};

export type Command<E extends CommitEvent, S> = {
  /** The subject of the aggregate. */
  subject: string;
  /** Returns the events that follow from the newest state, or none. It is called again after a conflict. If it throws, the command fails. */
  decide: (state: S | undefined, metadata: EventMetadata) => readonly E[] | Promise<readonly E[]>;
  origin: CommandOrigin;
  /** The last commit that the caller knows, which saves a read. An outdated one costs one conflict. */
  known?: { stored: StoredCommit<Commit<E, S>> | undefined };
};

/** The new events, and the newest commit after them; undefined if the aggregate still has none. */
export type Handled<E extends CommitEvent, S> = {
  events: readonly E[];
  stored: StoredCommit<Commit<E, S>> | undefined;
};

type CommandContext<E extends CommitEvent, S> = {
  log: Pick<EventLog<Commit<E, S>>, 'last' | 'append'>;
  clock: Clock;
  random: RandomDigits;
};

/**
 * Limit of attempts. Each conflict means that another writer made progress, so conflicts end soon; the limit stops two writers that keep
 * conflicting.
 */
const mostAttempts = 10;
const conflictPause: RetryPolicy = { firstPauseMs: 2, longestPauseMs: 500 };
const commitIdDigits = 22;

/**
 * Loads an aggregate, decides, and appends the new events as one commit. After a conflict it repeats this with the other writer's state.
 * The commit keeps its id over all attempts, so an append that was stored without an answer is recognized. Rejects with `Conflict` after
 * the last attempt, with `Unavailable` when the log is unavailable, and with any error that `decide` throws.
 */
export async function handleCommand<E extends CommitEvent, S>(
  { log, clock, random }: CommandContext<E, S>,
  aggregate: Aggregate<E, S>,
  { subject, decide, origin, known }: Command<E, S>,
): Promise<Handled<E, S>> {
  const id = `${aggregate.commitIdPrefix}_${random(commitIdDigits)}`;
  let previous = known === undefined ? await log.last(subject, { fromLeader: true }) : known.stored;
  for (let attempt = 1; ; attempt += 1) {
    const time = clock.now();
    const metadata = { time: time.toISOString(), actor: origin.actor };
    const events = await decide(previous?.commit.data.state, metadata);
    if (events.length === 0) return { events, stored: previous };
    const commit = nextCommit(subject, previous, [...events], stateAfter(aggregate, previous, events, metadata), {
      ...origin,
      id,
      time,
    });
    try {
      return { events, stored: await log.append(commit, { sequence: previous?.sequence ?? 0 }) };
    } catch (error) {
      if (!(error instanceof Conflict) || attempt === mostAttempts) throw error;
    }
    await delay(pauseAfter(attempt, conflictPause));
    previous = await log.last(subject, { fromLeader: true });
  }
}

function stateAfter<E extends CommitEvent, S>(
  { evolve }: Aggregate<E, S>,
  previous: StoredCommit<Commit<E, S>> | undefined,
  events: readonly E[],
  metadata: EventMetadata,
): S {
  let state = previous?.commit.data.state;
  for (const event of events) state = evolve(state, event, metadata);
  return state as S;
}
