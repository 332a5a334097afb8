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

/** Single messages of stored logs, which operators look at before they decide about a dead letter. */
export type StoredMessages = Pick<LogAudit, 'stored'> & {
  /** One message of a stream, or undefined if the stream does not have it. */
  message(stream: string, sequence: number): Promise<StoredText | undefined>;
  /** Number of messages of one subject with a later sequence. */
  countAfter(stream: string, subject: string, sequence: number): Promise<number>;
};

/** A range of sequences, including both ends. */
export type SequenceRange = { first: number; last: number };
