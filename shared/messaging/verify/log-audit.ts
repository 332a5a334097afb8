import type { StoredText } from '#shared/messaging/log/event-log.ts';

/** Read-only access to stored logs, for verification. Nothing is parsed. */
export type LogAudit = {
  /** Subjects of a stream that match a filter. */
  subjects(stream: string, filter: string): Promise<string[]>;
  /** Number of messages of each subject that matches a filter. */
  counts(stream: string, filter: string): Promise<Readonly<Record<string, number>>>;
  /** All messages of one subject, in the order of the stream. */
  stored(stream: string, subject: string): Promise<StoredText[]>;
  /** Ranges of sequences whose messages the stream no longer has. */
  gaps(stream: string): Promise<SequenceRange[]>;
  close(): Promise<void>;
};

/** A range of sequences, including both ends. */
export type SequenceRange = { first: number; last: number };
