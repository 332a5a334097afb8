import type { StoredText } from '../event-log.ts';

/** Logs as they are stored, for verification: nothing is parsed, and nothing can be written. */
export type LogAudit = {
  /** Subjects of a stream that match a filter. */
  subjects(stream: string, filter: string): Promise<string[]>;
  /** All messages of one subject, in the order of the stream. */
  stored(stream: string, subject: string): Promise<StoredText[]>;
  /** Ranges of sequences that the stream has given out and no longer has. */
  gaps(stream: string): Promise<SequenceRange[]>;
  close(): Promise<void>;
};

/** Both included. */
export type SequenceRange = { first: number; last: number };
