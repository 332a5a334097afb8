import { z } from 'zod';
import { timestamp } from '#shared/contracts/identifiers.ts';

const problemSchema = z.object({ part: z.string(), reason: z.string() });

const serviceHealthSchema = z
  .object({
    service: z.string(),
    state: z.enum(['ready', 'degraded', 'unready', 'unreachable']),
    version: z.string().optional(),
    problems: z.array(problemSchema),
  })
  .meta({ title: 'ServiceHealth' });

export type ServiceHealth = z.infer<typeof serviceHealthSchema>;

/** Answer of `GET /v1/installation/services`: the gateway that answers, and the services that it calls. */
export const serviceListSchema = z
  .object({ gateways: z.int(), services: z.array(serviceHealthSchema) })
  .meta({ title: 'ServiceList' });

const workQueueSchema = z
  .object({
    queue: z.string(),
    service: z.string(),
    pending: z.int().min(0),
    inFlight: z.int().min(0),
    redelivered: z.int().min(0),
  })
  .meta({ title: 'WorkQueue' });

const heldLeaseSchema = z.object({ role: z.string(), holder: z.string() }).meta({ title: 'HeldLease' });

const heldTaskSchema = z
  .object({
    jobId: z.string(),
    organization: z.string().optional(),
    work: z.enum(['chunk', 'closing', 'bundle']),
    chunk: z.int().min(0).optional(),
    attempt: z.int().min(1),
    since: timestamp,
  })
  .meta({ title: 'HeldTask' });

export type HeldTask = z.infer<typeof heldTaskSchema>;

const workerSchema = z
  .object({
    service: z.string(),
    instance: z.string(),
    rendererVersion: z.string().optional(),
    slots: z.int().min(0),
    freeSlots: z.int().min(0),
    draining: z.boolean(),
    tasks: z.array(heldTaskSchema),
  })
  .meta({ title: 'Worker' });

export type Worker = z.infer<typeof workerSchema>;

/** Answer of `GET /v1/installation/work`. A part that is not known is absent, and `problems` has the reason. */
export const installationWorkSchema = z
  .object({
    queues: z.array(workQueueSchema).optional(),
    leases: z.array(heldLeaseSchema).optional(),
    activeExports: z.int().min(0).optional(),
    workers: z.array(workerSchema),
    problems: z.array(problemSchema),
  })
  .meta({ title: 'InstallationWork' });

export type InstallationWork = z.infer<typeof installationWorkSchema>;

/** The id of a dead letter: service, stream and sequence of the message. */
export const letterIdSchema = z.string().regex(/^[a-z-]{1,40}\.[A-Z]{1,40}\.[1-9][0-9]{0,15}$/);

const letterDecisionSchema = z
  .object({ action: z.enum(['retry', 'drop']), by: z.string(), why: z.string(), at: timestamp })
  .meta({ title: 'LetterDecision' });

/** A message that a service set aside. `settled`: it was handled after all, and is only in the history. */
const deadLetterFields = z.object({
  id: z.string(),
  service: z.string(),
  stream: z.string(),
  subject: z.string(),
  sequence: z.int().min(1),
  state: z.enum(['aside', 'dropped', 'settled']),
  cause: z.enum(['poison', 'newer']).optional(),
  reason: z.string(),
  isOrdered: z.boolean().optional(),
  setAsideAt: timestamp.optional(),
  decision: letterDecisionSchema.optional(),
  failed: letterDecisionSchema.optional(),
});

const installationDeadLetterSchema = deadLetterFields.meta({ title: 'DeadLetter' });

export type InstallationDeadLetter = z.infer<typeof installationDeadLetterSchema>;

export const listDeadLettersQuerySchema = z.object({
  state: z.enum(['aside', 'dropped', 'all']).default('aside'),
  service: z
    .string()
    .regex(/^[a-z-]{1,40}$/)
    .optional(),
  stream: z
    .string()
    .regex(/^[A-Z]{1,40}$/)
    .optional(),
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: letterIdSchema.optional(),
});

/** Answer of `GET /v1/installation/dead-letters`. */
export const deadLetterListSchema = z
  .object({
    deadLetters: z.array(installationDeadLetterSchema),
    unreadable: z.array(z.object({ id: z.string(), reason: z.string() })),
    nextCursor: z.string().optional(),
  })
  .meta({ title: 'DeadLetterList' });

export type DeadLetterList = z.infer<typeof deadLetterListSchema>;

/** Answer of `GET /v1/installation/dead-letters/{letter}`. */
export const deadLetterDetailSchema = deadLetterFields
  .extend({
    attempts: z.int().min(0),
    message: z.object({ text: z.string(), sizeBytes: z.int().min(0), isCut: z.boolean() }).optional(),
    waiting: z.int().min(0).optional(),
    history: z.array(
      z.object({
        outcome: z.enum(['set-aside', 'retried', 'failed-again', 'dropped', 'given-up']),
        at: timestamp.optional(),
        reason: z.string(),
        decision: letterDecisionSchema.optional(),
      }),
    ),
    problems: z.array(problemSchema),
  })
  .meta({ title: 'DeadLetterDetail' });

export type DeadLetterDetail = z.infer<typeof deadLetterDetailSchema>;

/** The reason of a decision, for audits. */
export const decisionReasonSchema = z.object({
  why: z.string().trim().min(1).max(1_000).default('no reason was given'),
});

/** Answer of a decision about a dead letter. `pending`: the decision is stored, and the service has not carried it out yet. */
export const deadLetterSettledSchema = z
  .object({
    id: z.string(),
    outcome: z.enum(['retried', 'dropped', 'failed-again', 'pending']),
    decision: letterDecisionSchema.optional(),
    reason: z.string().optional(),
    already: z.boolean(),
  })
  .meta({ title: 'DeadLetterSettled' });

export type DeadLetterSettled = z.infer<typeof deadLetterSettledSchema>;

/** Limit of the letters that one request decides about. */
export const mostLettersAtOnce = 50;

/** Body of `POST /v1/installation/dead-letters/decisions`. It names the letters, so that none is decided about that nobody saw. */
export const decideLettersBodySchema = decisionReasonSchema
  .extend({
    action: z.enum(['retry', 'drop']),
    letters: z.array(letterIdSchema).min(1).max(mostLettersAtOnce),
  })
  .meta({ title: 'DecideDeadLetters' });

/** Answer of `POST /v1/installation/dead-letters/decisions`. `refused`: letters that stay as they were, with the reason. */
export const lettersDecidedSchema = z
  .object({
    settled: z.array(deadLetterSettledSchema),
    refused: z.array(z.object({ id: z.string(), reason: z.string() })),
  })
  .meta({ title: 'DeadLettersDecided' });

export type LettersDecided = z.infer<typeof lettersDecidedSchema>;

export const housekeepingQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(63).optional(),
});

const removableSchema = z.object({ kind: z.string(), objects: z.int().min(0), bytes: z.int().min(0) });

const removableOfOrganizationSchema = z
  .object({ organization: z.string(), objects: z.array(removableSchema), contents: z.int().min(0) })
  .meta({ title: 'RemovableOfOrganization' });

export type RemovableOfOrganization = z.infer<typeof removableOfOrganizationSchema>;

/** Answer of `GET /v1/installation/housekeeping`: the last count that ended, and whether another one runs. */
export const housekeepingSchema = z
  .object({
    countedAt: timestamp.optional(),
    countingSince: timestamp.optional(),
    problem: z.string().optional(),
    totals: z.object({ objects: z.array(removableSchema), contents: z.int().min(0) }).optional(),
    organizations: z.array(removableOfOrganizationSchema),
    notJudged: z.array(z.string()),
    nextCursor: z.string().optional(),
  })
  .meta({ title: 'Housekeeping' });

export type Housekeeping = z.infer<typeof housekeepingSchema>;
