import { z } from 'zod';
import { actorSchema } from '#shared/contracts/commit.ts';
import { organizationId, sha256Hex, timestamp } from '#shared/contracts/identifiers.ts';

/** Limit of the problems and heads of a stream that a result lists. It counts all of them. */
export const mostListed = 100;

/** Body of `POST /v1/audit/verification`. `again`: verify also if the result of the last hour is about the same messages. */
export const verificationBodySchema = z
  .strictObject({ again: z.boolean().default(false) })
  .meta({ title: 'StartVerification' });

const entrySchema = z.object({ subject: z.string(), sequence: z.int(), time: z.string().optional() });

/** The kinds of `ChainProblem`. */
export const problemKinds = [
  'hole',
  'swapped',
  'moved',
  'changed',
  'wrong-subject',
  'wrong-state',
  'unreadable',
  'unanchored',
  'bundle',
] as const;

const verifiedStreamSchema = z
  .object({
    stream: z.string(),
    /** Histories that were verified: of exports, contents, sites and organizations. In `ACCESS` the exports with records. */
    histories: z.int().min(0),
    /** Their commits; in `ACCESS` the records of links. */
    commits: z.int().min(0),
    /** Histories, in `ACCESS` records, whose end the projector anchored with the audit key. */
    anchored: z.int().min(0),
    first: entrySchema.optional(),
    last: entrySchema.optional(),
    problemCount: z.int().min(0),
    /** The first problems. */
    problems: z.array(
      z.object({
        problem: z.enum(problemKinds),
        subject: z.string(),
        sequence: z.int(),
        revision: z.int().optional(),
        message: z.string(),
      }),
    ),
    /** SHA-256 over the lines `<subject> <revision> <hash>` of all heads, in the order of subjects, each with a line feed. */
    headsSha256: sha256Hex,
    headCount: z.int().min(0),
    /** The last commit of each history; the first ones in the order of subjects. */
    heads: z.array(z.object({ subject: z.string(), revision: z.int(), commitId: z.string(), hash: z.string() })),
  })
  .meta({ title: 'VerifiedStream' });

export type VerifiedStream = z.infer<typeof verifiedStreamSchema>;

const asked = { askedAt: timestamp, askedBy: actorSchema };

export const verificationResultSchema = z
  .object({
    ...asked,
    startedAt: timestamp,
    finishedAt: timestamp,
    /** True if no check failed. */
    whole: z.boolean(),
    problemCount: z.int().min(0),
    streams: z.array(verifiedStreamSchema),
  })
  .meta({ title: 'VerificationResult' });

export type VerificationResult = z.infer<typeof verificationResultSchema>;

/** A verification that has not finished. `histories`: those of the stream that is being verified. */
export const runningVerificationSchema = z.object({
  state: z.enum(['waiting', 'running']),
  ...asked,
  startedAt: timestamp.optional(),
  stream: z.string().optional(),
  histories: z.int().min(0).optional(),
});

/** The last attempt, if it ended without a result. */
export const failedVerificationSchema = z.object({ ...asked, failedAt: timestamp, reason: z.string() });

/**
 * Answer of the verification routes: the logs of the organization, or without `organization` of the whole installation. Without `running`, `failed` and
 * `result` nobody has asked for one. `result` stays while the next verification runs.
 */
export const verificationSchema = z
  .object({
    organization: organizationId.optional(),
    running: runningVerificationSchema.optional(),
    failed: failedVerificationSchema.optional(),
    result: verificationResultSchema.optional(),
  })
  .meta({ title: 'Verification' });

export type Verification = z.infer<typeof verificationSchema>;
