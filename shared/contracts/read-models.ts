import { z } from 'zod';
import { contentStateSchema } from '#shared/aggregates/content/content.ts';
import { apiKeySchema, directoryStateSchema, domainEntrySchema } from '#shared/aggregates/directory/directory.ts';
import { exportJobStateSchema } from '#shared/aggregates/export-job/export-job.ts';
import { auditEntrySchema, someUsageFiguresSchema } from './audit-entry.ts';
import { vouched } from './stored-objects.ts';
import { organizationId, organizationPlans, sha256Hex, timestamp } from './identifiers.ts';

/** Every document says which commit it reflects: the aggregate's own revision and the commit's id. */
const reflects = { revision: z.int().min(1), commitId: z.string(), updatedAt: timestamp };

/** The document of an aggregate's state also vouches for its history, up to the commit with that hash. Older documents do not. */
const anchored = { ...reflects, hash: sha256Hex.optional(), ...vouched };

/** What the document of a state says of the history that it was folded from. */
const anchoredSchema = z.object(anchored);
export type Anchored = z.infer<typeof anchoredSchema>;

/** Bucket `job-status`, key `<org>.<job>`. */
export const jobStatusDocumentSchema = z.object({ ...anchored, state: exportJobStateSchema });
export type JobStatusDocument = z.infer<typeof jobStatusDocumentSchema>;

/** Bucket `job-list`, key `<org>.<yyyy-mm-dd>`: the jobs created that day, newest last. */
export const jobListDocumentSchema = z.object({
  jobs: z.array(
    z.object({ jobId: z.string(), domain: z.string(), createdAt: timestamp, revision: z.int(), status: z.string() }),
  ),
});
export type JobListDocument = z.infer<typeof jobListDocumentSchema>;

/** Bucket `directory`, key `org.<org>`. */
export const organizationDocumentSchema = z.object({ ...anchored, state: directoryStateSchema });

/** Bucket `directory`, key `key.<sha256>`: all that a gateway needs to let a request in. */
export const keyDocumentSchema = z.object({
  ...reflects,
  organization: organizationId,
  organizationPlan: z.enum(organizationPlans),
  domains: z.array(domainEntrySchema),
  key: apiKeySchema,
});
export type KeyDocument = z.infer<typeof keyDocumentSchema>;

/** Bucket `directory`, key `content.<org>.<domain>`. */
export const contentDocumentSchema = z.object({ ...anchored, state: contentStateSchema });

/** Bucket `active-jobs`, key `<org>.<job>`: written before the first dispatch, removed after the last commit. */
export const activeJobDocumentSchema = z.object({
  organization: organizationId,
  jobId: z.string(),
  createdAt: timestamp,
});
export type ActiveJobDocument = z.infer<typeof activeJobDocumentSchema>;

/** Bucket `conversation-sizes`, key `<org>`: what an organization's conversations take in the log, oldest day first. */
export const conversationSizesSchema = z.object({
  /** `lastSequence`: of the newest message that was counted for the day (UTC). */
  days: z.array(z.object({ day: z.iso.date(), bytes: z.int().min(0), lastSequence: z.int().min(0) })),
});
export type ConversationSizes = z.infer<typeof conversationSizesSchema>;

/**
 * Bucket `audit`, key `<source>.<org>.<yyyy-mm-dd>.<part>`: what one log says of one day, oldest first by `auditOrder`, and every entry
 * once. The first part has the first entries of the day, the next part the following: which entry is where follows from the entries alone.
 */
export const auditDocumentSchema = z.object({ entries: z.array(auditEntrySchema) });
export type AuditDocument = z.infer<typeof auditDocumentSchema>;

/** Bucket `usage`, key `<source>.<org>.<yyyy-mm>`: figures by day of the month (`01`…), each counted from that day's audit entries. */
export const usageDocumentSchema = z.object({
  days: z.record(z.string().regex(/^\d\d$/), someUsageFiguresSchema),
});
export type UsageDocument = z.infer<typeof usageDocumentSchema>;

/**
 * Keys of read-model documents, as the stores of the bus take them. The bucket `directory` holds three kinds, which the bus tells apart
 * by a prefix of its own (`org.`, `key.`, `content.`); `audit` and `usage` hold one for each source, told apart the same way.
 */
export const jobStatusKey = (organization: string, jobId: string): string => `${organization}.${jobId}`;
/** `createdAt` as in the log; the day is UTC. */
export const jobListKey = (organization: string, createdAt: string): string =>
  `${organization}.${createdAt.slice(0, 10)}`;
export const organizationKey = (organization: string): string => organization;
export const apiKeyKey = (sha256: string): string => sha256;
export const contentsKey = (organization: string, domain: string): string => `${organization}.${domain}`;
/** `day` is a date in UTC; parts count from 0. */
export const auditKey = (organization: string, day: string, part: number): string => `${organization}.${day}.${part}`;
/** `month` is `yyyy-mm`, in UTC. */
export const usageKey = (organization: string, month: string): string => `${organization}.${month}`;

/** The day in the key of an audit document, the month in that of a usage document. */
export const dateInKey = (key: string): string => key.split('.')[1] ?? '';

/** What is folded from one stream on its own, and so is rebuilt on its own. */
export const projectionNames = ['exports', 'content', 'directory', 'access'] as const;

export type ProjectionName = (typeof projectionNames)[number];

/**
 * Every read model has room for two generations: one is read, the other can be filled anew from the log meanwhile, and then takes its
 * place. Both rooms are there from the start, because a right on the bus cannot be given for names that do not exist yet.
 */
export const generations = ['blue', 'green'] as const;

export type Generation = (typeof generations)[number];

export const otherGeneration = (generation: Generation): Generation => (generation === 'blue' ? 'green' : 'blue');

/** Name of a bucket or consumer in a generation: the blue one has the plain name. */
export const inGeneration = (name: string, generation: Generation): string =>
  generation === 'blue' ? name : `${name}-green`;

/**
 * Bucket `projections`, key `<projection>`, written by the projector alone: which generation is read. No document means the blue one.
 * The other generation is being rebuilt, or kept for a while after a flip, or empty.
 */
export const projectionPointerSchema = z.object({
  live: z.enum(generations),
  /** The projector that leads or led last: it writes its name before it does anything else, so a paused one before it notices. */
  leader: z.string().optional(),
  /** asked: the other generation has to be emptied. filling: it is empty or being filled. */
  rebuild: z.object({ id: z.string(), startedAt: timestamp, state: z.enum(['asked', 'filling']) }).optional(),
  /** The other generation was read until the last flip, and is written until then. */
  keptUntil: timestamp.optional(),
  lastRebuild: z
    .object({
      id: z.string(),
      startedAt: timestamp,
      finishedAt: timestamp,
      documentCount: z.int().min(0),
      differentCount: z.int().min(0),
      /** The first of the documents that were not the same in the generation that was read before: `<store>/<key>`. */
      different: z.array(z.string()).max(20),
      /** Archived objects that could not be folded; absent: none. */
      setAsideCount: z.int().min(1).optional(),
      /** The first of them. */
      setAside: z
        .array(z.object({ key: z.string(), reason: z.string() }))
        .max(20)
        .optional(),
    })
    .optional(),
  /** The last request to call a rebuild off that was met, and the rebuild that it ended, if one was running. */
  calledOff: z.object({ id: z.string(), at: timestamp, rebuildId: z.string().optional() }).optional(),
});

export type ProjectionPointer = z.infer<typeof projectionPointerSchema>;

/**
 * Bucket `rebuilds`, key `<projection>`, written by an operator: the wish for one rebuild, or with `callOff` for none. The same id again
 * is the same wish. A newer wish takes the place of a rebuild that is not finished.
 */
export const rebuildRequestSchema = z.object({
  id: z.string().min(1),
  askedAt: timestamp,
  callOff: z.literal(true).optional(),
});

export type RebuildRequest = z.infer<typeof rebuildRequestSchema>;
