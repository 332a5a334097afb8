import { z } from 'zod';
import { contentStateSchema } from '#shared/aggregates/content/content.ts';
import { apiKeySchema, directoryStateSchema, domainEntrySchema } from '#shared/aggregates/directory/directory.ts';
import { deploymentSchema, siteStateSchema } from '#shared/aggregates/site/site.ts';
import { exportJobStateSchema } from '#shared/aggregates/export-job/export-job.ts';
import { actorSchema } from '#shared/contracts/commit.ts';
import { auditEntrySchema, someUsageFiguresSchema } from '#shared/contracts/audit-entry.ts';
import {
  failedVerificationSchema,
  runningVerificationSchema,
  verificationResultSchema,
} from '#shared/interfaces/http/verification.ts';
import { questionOutcomesSchema } from '#shared/contracts/insights.ts';
import { vouched } from '#shared/contracts/stored-objects.ts';
import { organizationId, organizationPlans, sha256Hex, timestamp } from '#shared/contracts/identifiers.ts';

/** The commit that a document reflects: the aggregate's own revision and the commit's id. */
const reflects = { revision: z.int().min(1), commitId: z.string(), updatedAt: timestamp };

/** The document of an aggregate's state also anchors its history, up to the commit with that hash. Older documents do not. */
const anchored = { ...reflects, hash: sha256Hex.optional(), ...vouched };

/** The fields of a state's document about the history that it was folded from. */
const anchoredSchema = z.object(anchored);
export type Anchored = z.infer<typeof anchoredSchema>;

/** Bucket `job-status`, key `<org>.<job>`. */
export const jobStatusDocumentSchema = z.object({ ...anchored, state: exportJobStateSchema });
export type JobStatusDocument = z.infer<typeof jobStatusDocumentSchema>;

/**
 * Lists that grow without limit are kept in parts by day: key `<org>.<yyyy-mm-dd>.<part>`, oldest entry first, every entry once. The first
 * part has the first entries of the day, the next part the following ones, so the entries alone decide their places. A part has a limited
 * size, and a reader fetches the parts that it needs by their keys.
 */
const listPart = <E extends z.ZodType>(entry: E) => z.object({ entries: z.array(entry) });

/**
 * The parts of such a list, key `<org>`: their number by month (`2026-03`) and day of the month (`01`). It is written before the parts, so
 * a counted part may be missing for a moment, and then counts as empty.
 */
export const listDaysDocumentSchema = z.object({
  months: z.record(z.string().regex(/^\d{4}-\d\d$/), z.record(z.string().regex(/^\d\d$/), z.int().min(1))),
});
export type ListDaysDocument = z.infer<typeof listDaysDocumentSchema>;

/** A job in a list. `revision` is that of the last change of its status. */
const jobListEntrySchema = z.object({
  jobId: z.string(),
  domain: z.string(),
  createdAt: timestamp,
  revision: z.int(),
  status: z.string(),
});
export type JobListEntry = z.infer<typeof jobListEntrySchema>;

/**
 * Bucket `job-list`, key `list.<org>.<yyyy-mm-dd>.<part>`: the jobs created that day, by `jobListOrder`; key `days.<org>`: the existing
 * parts.
 */
export const jobListDocumentSchema = listPart(jobListEntrySchema);

/** A text that sorts jobs by the time of their request, then by their ids. Pure. */
export const jobListOrder = ({ createdAt, jobId }: Pick<JobListEntry, 'createdAt' | 'jobId'>): string =>
  `${createdAt} ${jobId}`;

/** Bucket `directory`, key `org.<org>`. */
export const organizationDocumentSchema = z.object({ ...anchored, state: directoryStateSchema });

/** Bucket `directory`, key `key.<sha256>`: all data with which a gateway admits a request. */
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

/** Bucket `sites`, key `<org>.<domain>`. */
export const siteDocumentSchema = z.object({ ...anchored, state: siteStateSchema });
export type SiteDocument = z.infer<typeof siteDocumentSchema>;

/** Bucket `directory`, key `deployments.<org>.<domain>`: the deployments in the state of a site, and those that it dropped last. Oldest first. */
export const siteDeploymentsDocumentSchema = z.object({
  revision: z.int().min(1),
  /** `actor`: who asked for it. Documents of earlier versions do not have it. */
  deployments: z.array(deploymentSchema.extend({ actor: actorSchema.optional() })),
});
export type SiteDeploymentsDocument = z.infer<typeof siteDeploymentsDocumentSchema>;

/**
 * Bucket `site-hosts`, key `<host>`: the site that has claimed a host name. A released name stays with its last site for an hour, so that nobody else
 * can receive its readers at once. `claimedAt` is that of the newest claim: a gateway that dies between a claim and the opening of the site, or before
 * it releases a name, leaves a claim that no open site lists, and that ends after an hour as well.
 */
export const siteHostSchema = z.object({
  organization: organizationId,
  domain: z.string(),
  claimedAt: timestamp.optional(),
  releasedAt: timestamp.optional(),
});
export type SiteHost = z.infer<typeof siteHostSchema>;

/** Bucket `active-jobs`, key `<org>.<job>`: written before the first dispatch, removed after the last commit. */
export const activeJobDocumentSchema = z.object({
  organization: organizationId,
  jobId: z.string(),
  createdAt: timestamp,
});
export type ActiveJobDocument = z.infer<typeof activeJobDocumentSchema>;

/**
 * Bucket `export-places`, key `<org>`: the exports that count as active when another one is started, oldest first. A place is taken before
 * the request is stored, and is free when the job has ended in its log. Entries of ended jobs stay until further exports start.
 */
export const exportPlacesSchema = z.object({ places: z.array(z.object({ jobId: z.string(), takenAt: timestamp })) });
export type ExportPlaces = z.infer<typeof exportPlacesSchema>;

/** Bucket `key-uses`, key `<org>.<key id>`: the time of the key's last admitted request, to the minute. */
export const keyUseSchema = z.object({ lastUsedAt: timestamp });
export type KeyUse = z.infer<typeof keyUseSchema>;

/** Bucket `conversation-sizes`, key `<org>`: the storage that an organization's conversations take in the log, oldest day first. */
export const conversationSizesSchema = z.object({
  /** `lastSequence`: sequence of the newest message that was counted for the day (UTC). */
  days: z.array(z.object({ day: z.iso.date(), bytes: z.int().min(0), lastSequence: z.int().min(0) })),
});
export type ConversationSizes = z.infer<typeof conversationSizesSchema>;

/**
 * Bucket `verifications`, key `org.<org>` or `installation`: the last verification of the logs. `running.beatAt` is renewed while it runs, and a run without a
 * renewal for a minute has died with its projector. `result.head` is a digest of the messages that it was about.
 */
export const verificationDocumentSchema = z.object({
  running: runningVerificationSchema.extend({ id: z.string(), beatAt: timestamp }).optional(),
  failed: failedVerificationSchema.optional(),
  result: verificationResultSchema.extend({ head: sha256Hex }).optional(),
});
export type VerificationDocument = z.infer<typeof verificationDocumentSchema>;

/** Key of the verification of an organization's logs, or of all logs. */
export const verificationKey = (organization: string | undefined): string =>
  organization === undefined ? 'installation' : `org.${organization}`;

/**
 * Bucket `audit`, key `<source>.<org>.<yyyy-mm-dd>.<part>`: the entries of one log on one day, by `auditOrder`; key `<source>-days.<org>`:
 * the existing parts.
 */
export const auditDocumentSchema = listPart(auditEntrySchema);
export type AuditDocument = z.infer<typeof auditDocumentSchema>;

/** Bucket `usage`, key `<source>.<org>.<yyyy-mm>`: figures by day of the month (`01`…), each counted from that day's audit entries. */
export const usageDocumentSchema = z.object({
  days: z.record(z.string().regex(/^\d\d$/), someUsageFiguresSchema),
  /**
   * The same figures for each part of a day's entries. Figures that are not counted from entries have none, and long days have none once two later days of
   * the month have entries.
   */
  parts: z.record(z.string().regex(/^\d\d$/), z.array(someUsageFiguresSchema)).optional(),
  /** Outcomes and ratings of questions by day, without erased conversations; only for the source `conversations`. */
  outcomes: z.record(z.string().regex(/^\d\d$/), questionOutcomesSchema).optional(),
});
export type UsageDocument = z.infer<typeof usageDocumentSchema>;

/**
 * Keys of read-model documents, as the stores of the bus take them. The bucket `directory` holds three kinds, which the bus distinguishes
 * by a prefix (`org.`, `key.`, `content.`); `job-list`, `audit` and `usage` do the same.
 */
export const jobStatusKey = (organization: string, jobId: string): string => `${organization}.${jobId}`;
/** Key of a part of a list: `day` is a date in UTC; parts count from 0. */
export const listPartKey = (organization: string, day: string, part: number): string =>
  `${organization}.${day}.${part}`;
export const listDaysKey = (organization: string): string => organization;
export const organizationKey = (organization: string): string => organization;
export const apiKeyKey = (sha256: string): string => sha256;
export const keyUseKey = (organization: string, keyId: string): string => `${organization}.${keyId}`;
export const siteKey = (organization: string, domain: string): string => `${organization}.${domain}`;
/** The organization in the key of a job or a site. */
export const organizationIn = (key: string): string => key.slice(0, key.indexOf('.'));
export const contentsKey = (organization: string, domain: string): string => `${organization}.${domain}`;
/** `month` is `yyyy-mm`, in UTC. */
export const usageKey = (organization: string, month: string): string => `${organization}.${month}`;

/** The day in the key of a part of a list, or the month in that of a usage document. */
export const dateInKey = (key: string): string => key.split('.')[1] ?? '';

/** The number of parts of a day (`yyyy-mm-dd`) in a list; 0 for a day without entries. Pure. */
export const partCountOf = (days: ListDaysDocument | undefined, day: string): number =>
  days?.months[day.slice(0, 7)]?.[day.slice(8)] ?? 0;

/**
 * The document with the given number of parts for a day; a day with none is left out. Days are in order, so that equal lists have equal
 * documents. Pure.
 */
export function withPartCount(days: ListDaysDocument | undefined, day: string, partCount: number): ListDaysDocument {
  const month = day.slice(0, 7);
  const { [day.slice(8)]: _, ...others } = days?.months[month] ?? {};
  const counts = inOrder(partCount === 0 ? others : { ...others, [day.slice(8)]: partCount });
  const { [month]: __, ...otherMonths } = days?.months ?? {};
  return { months: inOrder(Object.keys(counts).length === 0 ? otherMonths : { ...otherMonths, [month]: counts }) };
}

const inOrder = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The days (`yyyy-mm-dd`) with entries in a list, oldest first. Pure. */
export const listedDays = (days: ListDaysDocument | undefined): string[] =>
  Object.entries(days?.months ?? {})
    .flatMap(([month, counts]) => Object.keys(counts).map((day) => `${month}-${day}`))
    .sort();

/** The projections. Each is folded from one stream and rebuilt separately. */
export const projectionNames = [
  'exports',
  'content',
  'directory',
  'access',
  'conversations',
  'sites',
  'views',
] as const;

export type ProjectionName = (typeof projectionNames)[number];

/**
 * Every read model has room for two generations: one is read, the other can be rebuilt from the log meanwhile, and then replaces it. Both
 * exist from the start, because rights on the bus cannot be granted for names that do not exist yet.
 */
export const generations = ['blue', 'green'] as const;

export type Generation = (typeof generations)[number];

/** The generation that is not the given one. */
export const otherGeneration = (generation: Generation): Generation => (generation === 'blue' ? 'green' : 'blue');

/** Name of a bucket or consumer in a generation: the blue one has the plain name. */
export const inGeneration = (name: string, generation: Generation): string =>
  generation === 'blue' ? name : `${name}-green`;

/**
 * Bucket `projections`, key `<projection>`, written by the projector only: the generation that is read. Without a document it is the blue
 * one. The other generation is being rebuilt, kept for a while after a flip, or empty.
 */
export const projectionPointerSchema = z.object({
  live: z.enum(generations),
  /** Shape of the documents in the generation that is read, as a version number; 1 if absent. A projector with another shape rebuilds them automatically. */
  shape: z.int().min(1).optional(),
  /** The projector that leads or led last. It writes its name before any other change, so that a paused predecessor notices it. */
  leader: z.string().optional(),
  /** The shape that the leader writes. A projector from before this field existed removes it when it leads. */
  leaderShape: z.int().min(1).optional(),
  /** asked: the other generation has to be emptied. filling: it is empty or being filled. */
  rebuild: z.object({ id: z.string(), startedAt: timestamp, state: z.enum(['asked', 'filling']) }).optional(),
  /** Until this time the other generation, which was read before the last flip, is still written. */
  keptUntil: timestamp.optional(),
  lastRebuild: z
    .object({
      id: z.string(),
      startedAt: timestamp,
      finishedAt: timestamp,
      documentCount: z.int().min(0),
      differentCount: z.int().min(0),
      /** The first documents that differed from the generation that was read before: `<store>/<key>`. */
      different: z.array(z.string()).max(20),
      /** Number of archived objects that could not be folded; absent if there are none. */
      setAsideCount: z.int().min(1).optional(),
      /** The first of these objects. */
      setAside: z
        .array(z.object({ key: z.string(), reason: z.string() }))
        .max(20)
        .optional(),
    })
    .optional(),
  /** Times of losses, as returned by `lostDocumentsAt`, after which the generations were filled again from the start of the log. */
  repaired: z.object({ blue: z.string().optional(), green: z.string().optional() }).optional(),
  /** The last request that was fulfilled, if a rebuild without a request came after it. */
  met: z.string().optional(),
  /** The last fulfilled request to call a rebuild off, and the rebuild that it ended, if one was running. */
  calledOff: z.object({ id: z.string(), at: timestamp, rebuildId: z.string().optional() }).optional(),
});

export type ProjectionPointer = z.infer<typeof projectionPointerSchema>;

/**
 * Bucket `rebuilds`, key `<projection>`, written by an operator: the request for a rebuild, or with `callOff` the request to call one off. Two
 * requests with the same id are the same one. A newer request replaces a rebuild that is not finished.
 */
export const rebuildRequestSchema = z.object({
  id: z.string().min(1),
  askedAt: timestamp,
  callOff: z.literal(true).optional(),
});

export type RebuildRequest = z.infer<typeof rebuildRequestSchema>;
