import { z } from 'zod';
import { timestamp } from './identifiers.ts';

/**
 * An operator's decision about a dead letter. The service that set the message aside carries it out. Two decisions with the same id are the
 * same one.
 */
const letterDecisionSchema = z.object({
  id: z.string().min(1),
  action: z.enum(['retry', 'drop']),
  /** The operator's user and machine (`anna@ops-1`), the name of a person at the console, or `operator` for the operator's token. */
  by: z.string().min(1).max(200),
  why: z.string().min(1).max(1_000),
  at: timestamp,
});
export type LetterDecision = z.infer<typeof letterDecisionSchema>;

/** The identity of the message. A service reads a stream with one reader only, so these three fields are unique. */
const message = {
  service: z.string(),
  stream: z.string(),
  subject: z.string(),
  sequence: z.int().min(1),
};

/** Bucket `dead-letters`, key `<service>.<stream>.<sequence>`: a message that a service could not handle, kept until it is handled. */
export const deadLetterSchema = z.object({
  ...message,
  /** aside: it waits. dropped: an operator gave it up. It is kept, so that a rebuild from the log skips it as well. */
  state: z.enum(['aside', 'dropped']),
  /** newer: a newer program wrote it, so each process that starts to read retries it. poison: an operator has to decide. */
  cause: z.enum(['poison', 'newer']),
  /** The reason as a sentence. */
  reason: z.string(),
  /** True if later messages of its subject wait for it. */
  isOrdered: z.boolean(),
  setAsideAt: timestamp,
  /** The decision that has not been carried out yet, or the one by which the letter was dropped. */
  decision: letterDecisionSchema.optional(),
  /** The process that carries out the decision. */
  takenBy: z.string().optional(),
  /** The last decision that failed, with the reason. */
  failed: letterDecisionSchema.extend({ reason: z.string() }).optional(),
});
export type DeadLetter = z.infer<typeof deadLetterSchema>;

export const deadLetterKey = (service: string, stream: string, sequence: number): string =>
  `${service}.${stream}.${sequence}`;

/** Stream `DEAD`, one message for each change of a dead letter. Older records have only the first five fields. */
export const deadLetterRecordSchema = z.object({
  ...message,
  reason: z.string(),
  /** given-up: a task, which the orchestrator redispatches. failed-again: the retry failed like the first try. */
  outcome: z.enum(['set-aside', 'retried', 'failed-again', 'dropped', 'given-up']).default('set-aside'),
  at: timestamp.optional(),
  /**
   * The decision that caused the change. Absent when a service acted automatically: it set the message aside, or handled it after an
   * upgrade.
   */
  decision: letterDecisionSchema.optional(),
});
export type DeadLetterRecord = z.infer<typeof deadLetterRecordSchema>;
