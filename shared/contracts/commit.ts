import { z } from 'zod';
import { sha256Hex, timestamp } from './identifiers.ts';

/**
 * The actor that caused a change: an API key (its id, never the key), a person who signed in at the console (their name), the operator's token, or a
 * service that decided alone.
 */
export const actorSchema = z.object({
  kind: z.enum(['key', 'person', 'operator', 'service']),
  id: z.string().min(1).max(100),
});

export type Actor = z.infer<typeof actorSchema>;

/**
 * The request that caused a change: its id, and a keyed hash of its client address (`addressHashOf`). Logs that are kept permanently never
 * contain the address.
 */
export const requestBehindSchema = z.object({ id: z.string().min(1).max(100), addressHash: sha256Hex });

export type RequestBehind = z.infer<typeof requestBehindSchema>;

/**
 * One message of the log: all events of one decision and the folded state after it. The envelope uses the names of CloudEvents 1.0 where
 * they exist; `revision` counts the aggregate's own commits (1, 2, …). `hash` covers all other fields of the commit, including
 * `previousHash`, so a hole or a changed byte shows; `previousSequence` is the stream sequence of the previous commit (0: none).
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
    /** Id of the message that caused this decision: a request, a fact or a commit. */
    causationId: z.string(),
    /** Id shared by all messages that follow from one request. */
    correlationId: z.string(),
    /** Absent if a service decided alone, or if the commit is from a version that did not record requests. */
    request: requestBehindSchema.optional(),
    traceparent: z.string().optional(),
    revision: z.int().min(1),
    previousSequence: z.int().min(0),
    previousHash: z.union([sha256Hex, z.literal('')]),
    hash: sha256Hex,
    data: z.object({ events: z.array(event).min(1), state }),
  });

/** Makes the schemas of an aggregate's events. The data of each event has the fields `common`, and its own. */
export const eventSchema =
  <C extends z.ZodRawShape>(common: C) =>
  <T extends string, D extends z.ZodRawShape>(type: T, data: D) =>
    z.object({ type: z.literal(type), version: z.literal(1), data: z.object({ ...common, ...data }) });

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

/** The time and actor of an event, from its commit. */
export type EventMetadata = { time: string; actor: Actor };

/** One kind of aggregate: the schema of its commits, and the fold of its events. Each has a folder in `shared/aggregates`. */
export type Aggregate<E extends CommitEvent, S> = {
  /** First letters of the ids of its commits: `ec` for `ec_…`. */
  commitIdPrefix: string;
  /** Reads a commit of any version that was ever stored. */
  storedCommit: z.ZodType<Commit<E, S>>;
  /** The state after one more event. It decides nothing, because an event is a fact. Pure. */
  evolve: (state: S | undefined, event: E, metadata: EventMetadata) => S;
};
