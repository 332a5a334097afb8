import { z } from 'zod';
import { timestamp } from './identifiers.ts';

/** What an operator wants to happen to a dead letter. The service that set the message aside does it; the same id again is the same wish. */
const letterDecisionSchema = z.object({
  id: z.string().min(1),
  action: z.enum(['retry', 'drop']),
  /** The person, as the machine of the command knows them: `anna@ops-1`. */
  by: z.string().min(1).max(200),
  why: z.string().min(1).max(1_000),
  at: timestamp,
});
export type LetterDecision = z.infer<typeof letterDecisionSchema>;

/** Which message it is. A service reads a stream by one name only, so these three are unique. */
const message = {
  service: z.string(),
  stream: z.string(),
  subject: z.string(),
  sequence: z.int().min(1),
};

/** Bucket `dead-letters`, key `<service>.<stream>.<sequence>`: a message that a service could not handle, until it is handled after all. */
export const deadLetterSchema = z.object({
  ...message,
  /** aside: it waits. dropped: an operator gave it up; kept, so that a rebuild from the log gives it up as well. */
  state: z.enum(['aside', 'dropped']),
  /** newer: a newer program wrote it, so each process that begins to read tries it again. poison: an operator has to act. */
  cause: z.enum(['poison', 'newer']),
  /** A sentence. */
  reason: z.string(),
  /** Later messages of its subject wait for it. */
  isOrdered: z.boolean(),
  setAsideAt: timestamp,
  /** Asked for, and not done yet; of a dropped one: what was done. */
  decision: letterDecisionSchema.optional(),
  /** Who is at the decision. */
  takenBy: z.string().optional(),
  /** The last decision that did not help, and why. */
  failed: letterDecisionSchema.extend({ reason: z.string() }).optional(),
});
export type DeadLetter = z.infer<typeof deadLetterSchema>;

export const deadLetterKey = (service: string, stream: string, sequence: number): string =>
  `${service}.${stream}.${sequence}`;

/** Stream `DEAD`, one message for each thing that happened to a dead letter. Older records have the first five fields only. */
export const deadLetterRecordSchema = z.object({
  ...message,
  reason: z.string(),
  /** given-up: a task, which the orchestrator hands out anew. failed-again: the retry ended as the first try did. */
  outcome: z.enum(['set-aside', 'retried', 'failed-again', 'dropped', 'given-up']).default('set-aside'),
  at: timestamp.optional(),
  /** What led to it. Absent when a service did it by itself: it set the message aside, or handled it after an upgrade. */
  decision: letterDecisionSchema.optional(),
});
export type DeadLetterRecord = z.infer<typeof deadLetterRecordSchema>;
