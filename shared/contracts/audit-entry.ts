import { z } from 'zod';
import { actorSchema } from './commit.ts';
import { sha256Hex, timestamp } from './identifiers.ts';
import { publicationSourceSchema } from './publication-source.ts';

/** The logs that have audit entries. Each is folded separately into its own audit documents. */
export const auditSources = ['exports', 'content', 'sites', 'directory', 'access'] as const;

export type AuditSource = (typeof auditSources)[number];

/** The actions in the audit, by the log that records them: `<area>.<verb in the past tense>`. */
export const auditActionsOf = {
  exports: ['export.requested', 'export.replayed', 'export.completed', 'export.failed', 'export.cancelled'],
  content: [
    ...(['content.published', 'content.labelled', 'content.unlabelled', 'content.promoted'] as const),
    ...(['content.deleted', 'content.ended'] as const),
  ],
  sites: [
    ...(['site.opened', 'site.closed', 'deployment.requested', 'deployment.live'] as const),
    ...(['deployment.failed', 'deployment.rolled-back', 'preview.ended'] as const),
  ],
  directory: [
    'organization.created',
    'organization.changed',
    'domain.added',
    'key.created',
    'key.rotated',
    'key.revoked',
  ],
  access: ['link.signed'],
} as const satisfies Record<AuditSource, readonly string[]>;

export const auditActions = auditSources.flatMap((source) => [...auditActionsOf[source]]);

export type AuditAction = (typeof auditActions)[number];

/** An audit entry: the actor, action and time, and the message of the log that proves it. */
export const auditEntrySchema = z.object({
  /** The id of the commit or record, and the number of the entry in it. It is the same whenever the log is read. */
  id: z.string().min(1).max(80),
  time: timestamp,
  action: z.enum(auditActions),
  actor: actorSchema,
  domain: z.string().optional(),
  jobId: z.string().optional(),
  contentVersion: z.string().optional(),
  label: z.string().optional(),
  keyId: z.string().optional(),
  /** The caller's address. It is personal data, so the documents with it are removed together with the record. */
  address: z.string().optional(),
  /** The request that caused the entry. If an export ends without being cancelled, this is the request that started it. */
  requestId: z.string().max(100).optional(),
  /** HMAC-SHA-256 of the address of that request: the same address has the same hash within an organization. Older entries have none. */
  addressHash: sha256Hex.optional(),
  /** The job that was replayed. */
  replayOf: z.string().optional(),
  /** The key that the new one replaces. */
  oldKeyId: z.string().optional(),
  /** Name of a key or an organization. */
  name: z.string().optional(),
  /** Kind of a key. */
  kind: z.string().optional(),
  /** Kind of the login that readers of a site need, and the sites that it protects. Without them everybody may read. */
  login: z.string().optional(),
  protects: z.string().optional(),
  /** Number of the deployment. */
  deployment: z.int().optional(),
  /** Plan of the organization. */
  plan: z.string().optional(),
  /** The place in a repository that content was published from. */
  source: publicationSourceSchema.optional(),
  pageCount: z.int().min(0).optional(),
  sizeBytes: z.int().min(0).optional(),
  /** SHA-256 of the bundle. */
  sha256: z.string().optional(),
  /** Expiry of the link or of the replaced key. */
  expiresAt: timestamp.optional(),
  /** The start of a failed job's error. The job's status has the whole error. */
  error: z.string().optional(),
  /** Anchor of a record of access, made with the audit key (`head-anchor.ts`). Callers do not see it. Older entries have none. */
  anchor: sha256Hex.optional(),
  /** The commit that this entry shows. Records of access have no revision. */
  commit: z.object({ subject: z.string(), revision: z.int().min(1).optional(), id: z.string() }),
});

export type AuditEntry = z.infer<typeof auditEntrySchema>;

/**
 * A text that sorts entries by time, then by their order in the aggregate. It depends only on the entry, so the order does not depend on
 * the order in which logs are read. Pure.
 */
export function auditOrder({ time, commit, id }: Pick<AuditEntry, 'time' | 'commit' | 'id'>): string {
  return `${time} ${commit.subject} ${String(commit.revision ?? 0).padStart(9, '0')} ${id}`;
}

/** The figures that are counted, by the log that they come from. Replays count in `exportsStarted`, too. */
export const usageFigureNames = [
  'exportsStarted',
  'exportsReplayed',
  'exportsCompleted',
  'exportsFailed',
  'exportsCancelled',
  'pagesExported',
  'bundleBytes',
  'linksSigned',
  'publications',
  'pagesPublished',
  'publishedBytes',
  'questions',
  'tokens',
] as const;

export type UsageFigureName = (typeof usageFigureNames)[number];

const figure = z.int().min(0);

/** Figures of a day, except those that are 0. */
export const someUsageFiguresSchema = z.partialRecord(z.enum(usageFigureNames), figure);

export type SomeUsageFigures = z.infer<typeof someUsageFiguresSchema>;
