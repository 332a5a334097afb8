import { sha256OfJson } from '#shared/canonical-json/sha256-of.ts';
import type { Actor } from '#shared/contracts/actor.ts';
import type { Commit, CommitEvent } from '#shared/contracts/commit.ts';
import type { StoredCommit } from './event-log.ts';

export type CommitOrigin = {
  /** Id of the new commit; the same id again is the same commit. */
  id: string;
  source: string;
  actor: Actor;
  time: Date;
  causationId: string;
  correlationId: string;
  traceparent?: string | undefined;
};

/** The commit that follows `previous` on `subject`: numbered, chained by hash, with the state after its events. Pure. */
export function nextCommit<E extends CommitEvent, S>(
  subject: string,
  previous: StoredCommit<Commit<E, S>> | undefined,
  events: E[],
  state: S,
  origin: CommitOrigin,
): Commit<E, S> {
  const { time, ...rest } = origin;
  const unsealed = {
    specversion: '1.0' as const,
    type: 'bindery.commit' as const,
    subject,
    ...rest,
    time: time.toISOString(),
    revision: (previous?.commit.revision ?? 0) + 1,
    previousSequence: previous?.sequence ?? 0,
    previousHash: previous?.commit.hash ?? '',
    data: { events, state },
  };
  return { ...unsealed, hash: commitHash(unsealed) };
}

/** SHA-256 over everything in a commit but `hash` itself. */
export function commitHash(commit: Omit<Commit, 'hash'> & { hash?: string }): string {
  const { hash: _, ...content } = commit;
  return sha256OfJson(content);
}
