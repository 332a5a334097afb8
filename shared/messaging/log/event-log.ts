import type { Commit } from '#shared/contracts/commit.ts';
import type { Fact } from '#shared/contracts/export-facts.ts';
import { Conflict } from '#shared/runtime/failures.ts';

/**
 * The history of one kind of aggregate (one stream): one subject per aggregate, one message per commit.
 *
 * Adapters guarantee:
 * - `append` is guarded: it stores the commit only if the subject's last message has sequence `after.sequence` (0: there is none), and
 *   resolves only when the commit is stored durably.
 * - A retried append whose first try was stored succeeds: on a conflict the adapter reads the message that follows `after` and compares
 *   commit ids. Any other conflict is `ConcurrentAppend`.
 * - `last` is one read, however long the history is. With `fromLeader` it never returns an older commit than one that was acknowledged.
 * - Commits are parsed by the schema of their kind. A commit that only a newer program can read is `NewerMessage` and never skipped.
 */
export type EventLog<C extends Commit> = {
  append(commit: C, after: { sequence: number }): Promise<StoredCommit<C>>;
  last(subject: string, options?: { fromLeader?: boolean }): Promise<StoredCommit<C> | undefined>;
  /** The commit of a subject at exactly this sequence, for example of the previous commit; undefined when it was removed. */
  at(subject: string, sequence: number): Promise<StoredCommit<C> | undefined>;
  /** All commits of one subject that existed when reading began, oldest first. */
  history(subject: string): AsyncIterable<StoredCommit<C>>;
  /**
   * Subjects that match a filter (`exports.acme.*.log`) and have commits, in no particular order. Needs the rights of an auditor of the
   * stream.
   */
  subjects(filter: string): Promise<string[]>;
  /**
   * The sequence of the newest message of the whole stream, read from its leader; 0 for a new stream. Needs the rights of an auditor of the
   * stream.
   */
  newestSequence(): Promise<number>;
  /**
   * Commits that were stored after a sequence, of the subjects that match a filter, in the order of the stream, read from its leader. Each commit
   * takes one read. The caller needs the right to read the newest messages of the stream.
   */
  after(filter: string, sequence: number): AsyncIterable<StoredCommit<C>>;
  /**
   * The subject of each message that the server stored before a time, oldest message first, read from the leader of the stream; nothing is
   * parsed. Messages that are purged during the listing are left out. One read for each message, and one for the first that is too young.
   * Needs the rights of an auditor of the stream.
   */
  storedBefore(time: Date): AsyncIterable<string>;
  /** All messages of one subject as stored, oldest first, neither parsed nor upcast. */
  texts(subject: string): Promise<StoredText[]>;
  /** Permanently removes the messages up to this sequence from the stream, of all subjects that match. Needs the rights of a purger. */
  purge(filter: string, upTo: { sequence: number }): Promise<void>;
};

/** A commit with its sequence in the stream, which is internal and never shown to a tenant. */
export type StoredCommit<C extends Commit> = { commit: C; sequence: number };

/** A message as stored, neither parsed nor upcast. */
export type StoredText = { subject: string; sequence: number; text: string };

/** Another writer appended to the aggregate first. The caller loads it again and decides again. */
export class ConcurrentAppend extends Conflict {
  override name = 'ConcurrentAppend';
  readonly subject: string;

  constructor(subject: string) {
    super(`${subject} has a newer commit than the one this decision was made on: load it again and decide again.`);
    this.subject = subject;
  }
}

/**
 * Facts that workers report without deciding. They are not guarded: the reader folds them in any order and any number of times. `record`
 * resolves when the fact is stored. It retries over reconnects until its deadline, then rejects.
 */
export type FactLog = { record(fact: Fact): Promise<void> };
