import { z } from 'zod';
import { actorSchema, requestBehindSchema } from './commit.ts';
import { storedMessage } from './upcast.ts';
import { domainSlug, jobId, organizationId, sha256Hex, timestamp } from './identifiers.ts';

/** A page that could not be rendered: its path in URLs (`guides/x`), and the reason as a sentence. */
export const failedPageSchema = z.object({ path: z.string(), reason: z.string().max(300) });

export type FailedPage = z.infer<typeof failedPageSchema>;

/** Facts that workers report about one job (`facts.<org>.<job>`), without deciding. Their order and repetition do not matter. */
const fact = <T extends string, D extends z.ZodRawShape>(type: T, data: D) =>
  z.object({
    type: z.literal(type),
    version: z.literal(1),
    id: z.string().min(1).max(64),
    source: z.string(),
    time: timestamp,
    organization: organizationId,
    jobId,
    /** Hash of the task's plan. Absent when the fact concerns no plan, and from workers of versions without replans. */
    planHash: sha256Hex.optional(),
    traceparent: z.string().optional(),
    data: z.object(data),
  });

const attempt = z.int().min(1);
const chunk = z.int().min(0);

export const factSchema = z.discriminatedUnion('type', [
  fact('ChunkRendered', {
    chunk,
    attempt,
    pageCount: z.int().min(0),
    reused: z.boolean(),
    durationMs: z.number().min(0),
  }),
  fact('ChunkFailed', {
    chunk,
    attempt,
    cause: z.enum(['pages', 'renderer']),
    reason: z.string().max(500),
    failedPages: z.array(failedPageSchema).max(64),
  }),
  fact('ClosingRendered', { attempt, reused: z.boolean(), manifestSha256: sha256Hex }),
  fact('ClosingFailed', { attempt, reason: z.string().max(500) }),
  /** Segments that are missing or damaged; −1 is the closing segment. The worker that needed them reports it. */
  fact('SegmentsLost', { chunks: z.array(z.int().min(-1)).min(1), reason: z.string().max(500) }),
  fact('BundleJoined', {
    attempt,
    bundleKey: z.string(),
    sizeBytes: z.int(),
    sha256: sha256Hex,
    /** SHA-256 of the stored object that lists the pieces of the bundle. Workers of older versions store none. */
    piecesSha256: sha256Hex.optional(),
    /** True if the bundle of the same plan was stored already, and its bytes were verified. Workers of older versions do not say so. */
    reused: z.boolean().optional(),
  }),
  fact('BundleFailed', { attempt, reason: z.string().max(500) }),
  /** The object store was unavailable. This does not count as an attempt: the task is redispatched after a pause, under another id. */
  fact('TaskPostponed', { taskId: z.string().min(1).max(120), reason: z.string().max(500) }),
  /** `request` is absent in facts of older gateways. */
  fact('CancelRequested', { actor: actorSchema, request: requestBehindSchema.optional() }),
]);

export type Fact = z.infer<typeof factSchema>;
export const storedFact = storedMessage(factSchema, {});
export type FactOf<T extends Fact['type']> = Extract<Fact, { type: T }>;

/**
 * A record of access: the caller that received a link, and its bundle (`access.<org>.<job>`, kept 400 days). It is written before the link
 * is returned.
 */
export const accessRecordSchema = z.object({
  type: z.literal('LinkSigned'),
  version: z.literal(1),
  id: z.string(),
  time: timestamp,
  organization: organizationId,
  jobId,
  /** The job's domain. Older records have none. */
  domain: domainSlug.optional(),
  actor: actorSchema,
  /** Client address as the gateway saw it. */
  address: z.string(),
  requestId: z.string(),
  bundleSha256: sha256Hex,
  expiresAt: timestamp,
});

export type AccessRecord = z.infer<typeof accessRecordSchema>;
export const storedAccessRecord = storedMessage(accessRecordSchema, {});
