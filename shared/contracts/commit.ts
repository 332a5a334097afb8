import { z } from 'zod';
import { sha256Hex, timestamp } from './identifiers.ts';

/** Who caused a change: an API key (its id, never the key), the operator's token, or a service on its own account. */
export const actorSchema = z.object({ kind: z.enum(['key', 'operator', 'service']), id: z.string().min(1).max(100) });

export type Actor = z.infer<typeof actorSchema>;

/**
 * The request that made a change: its id, and a keyed hash of the address that it came from (`addressHashOf`). The address itself is
 * in no log that is kept for good.
 */
export const requestBehindSchema = z.object({ id: z.string().min(1).max(100), addressHash: sha256Hex });

export type RequestBehind = z.infer<typeof requestBehindSchema>;

/**
 * One message of the log: all events of one decision and the folded state after it. The envelope uses the names of CloudEvents 1.0
 * where there is one; `revision` counts the aggregate's own commits (1, 2, …). `hash` covers everything else in the commit, with
 * `previousHash` in it, so a hole or a changed byte shows; `previousSequence` is the stream sequence of the commit before (0: none).
 */
export const commitSchema = <Event extends z.ZodType, State extends z.ZodType>(event: Event, state: State) =>
  z.object({
    specversion: z.literal('1.0'),
    id: z.string().min(1).max(64),
    type: z.literal('bindery.commit'),
    source: z.string(),
    subject: z.string(),
    time: timestamp,
    actor: actorSchema,
    /** Id of the message that made this decision necessary: a request id, a fact id, a commit id. */
    causationId: z.string(),
    /** Same for everything that follows from one request. */
    correlationId: z.string(),
    /** Absent: a service decided on its own account, or the commit is from before requests were kept. */
    request: requestBehindSchema.optional(),
    traceparent: z.string().optional(),
    revision: z.int().min(1),
    previousSequence: z.int().min(0),
    previousHash: z.union([sha256Hex, z.literal('')]),
    hash: sha256Hex,
    data: z.object({ events: z.array(event).min(1), state }),
  });

export type CommitEvent = { type: string; version: number; data: unknown };

export type Commit<E extends CommitEvent = CommitEvent, S = unknown> = {
  specversion: '1.0';
  id: string;
  type: 'bindery.commit';
  source: string;
  subject: string;
  time: string;
  actor: z.infer<typeof actorSchema>;
  causationId: string;
  correlationId: string;
  request?: RequestBehind | undefined;
  traceparent?: string | undefined;
  revision: number;
  previousSequence: number;
  previousHash: string;
  hash: string;
  data: { events: E[]; state: S };
};

/** When an event happened and who caused it, as its commit says. */
export type EventMetadata = { time: string; actor: Actor };

/** One kind of aggregate: how its commits are read, and how its events become its state. Each has a folder in `shared/aggregates`. */
export type Aggregate<E extends CommitEvent, S> = {
  /** First letters of the ids of its commits: `ec` for `ec_…`. */
  commitIdPrefix: string;
  /** Reads a commit of any version that was ever stored. */
  storedCommit: z.ZodType<Commit<E, S>>;
  /** The state after one more event. It decides nothing: what an event says is what happened. Pure. */
  evolve: (state: S | undefined, event: E, metadata: EventMetadata) => S;
};
