import type { Commit } from '#shared/contracts/commit.ts';
import type { Fact } from '#shared/contracts/export-facts.ts';
import { Conflict } from '#shared/runtime/failures.ts';

/**
 * The history of one kind of aggregate (one stream): one subject per aggregate, one message per commit.
 *
 * What an adapter guarantees:
 * - `append` is guarded: it stores the commit only if the subject's last message has sequence `after.sequence` (0: there is none),
 *   and answers only when the commit is stored durably.
 * - A retried append whose first try got through answers as if it had worked: on a conflict the adapter reads the message that
 *   follows `after` and compares commit ids. Any other conflict is `ConcurrentAppend`.
 * - `last` is one read, however long the history is; with `fromLeader` it never shows an older commit than one that was acknowledged.
 * - Commits that are read have been parsed by the schema of their kind; one that only a newer program can read is `NewerMessage` and never skipped.
 */
export type EventLog<C extends Commit> = {
  append(commit: C, after: { sequence: number }): Promise<StoredCommit<C>>;
  last(subject: string, options?: { fromLeader?: boolean }): Promise<StoredCommit<C> | undefined>;
  /** The commit of a subject at exactly this sequence, such as the one before another; undefined when it is gone. */
  at(subject: string, sequence: number): Promise<StoredCommit<C> | undefined>;
  /** All commits of one subject, oldest first, as they were when reading began. */
  history(subject: string): AsyncIterable<StoredCommit<C>>;
  /** Subjects that match a filter (`exports.acme.*.log`) and have commits, in no promised order. Needs the rights of an auditor of the stream. */
  subjects(filter: string): Promise<string[]>;
  /** The sequence of the newest message of the whole stream, as its leader has it; 0 when there was none. Needs the rights of an auditor of the stream. */
  newestSequence(): Promise<number>;
  /**
   * Commits of the subjects that match a filter that were stored after a sequence, in the order of the stream, as its leader has them. One
   * read for each. Needs the right to read the newest messages of the stream.
   */
  after(filter: string, sequence: number): AsyncIterable<StoredCommit<C>>;
  /**
   * The subject of each message that the server stored before a time, oldest message first, as the leader of the stream has them; nothing is
   * parsed. What is purged before its turn comes is left out. One read for each, and one for the first that is too young. Needs the rights of
   * an auditor of the stream.
   */
  storedBefore(time: Date): AsyncIterable<string>;
  /** All messages of one subject as they are stored, nothing parsed and nothing upcast, oldest first. */
  texts(subject: string): Promise<StoredText[]>;
  /** Takes the messages up to this sequence out of the stream, for good, of all subjects that match. Needs the rights of a purger. */
  purge(filter: string, upTo: { sequence: number }): Promise<void>;
};

/** `sequence` is the stream's own: internal, never shown to a tenant. */
export type StoredCommit<C extends Commit> = { commit: C; sequence: number };

/** A message as the stream has it: nothing parsed, nothing upcast. */
export type StoredText = { subject: string; sequence: number; text: string };

/** Another writer appended to the aggregate first. Load it again, decide again. */
export class ConcurrentAppend extends Conflict {
  override name = 'ConcurrentAppend';
  readonly subject: string;

  constructor(subject: string) {
    super(`${subject} has a newer commit than the one this decision was made on: load it again and decide again.`);
    this.subject = subject;
  }
}

/**
 * Facts that workers report without deciding. They are not guarded: the reader folds them in any order and any number of times.
 * `record` answers when the fact is stored; it retries over reconnects until its deadline, then rejects.
 */
export type FactLog = { record(fact: Fact): Promise<void> };
