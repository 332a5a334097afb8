import { z } from 'zod';
import { actorSchema } from './commit.ts';
import { sha256Hex, timestamp } from './identifiers.ts';

/** Each of these logs is folded on its own, and has audit documents of its own. */
export const auditSources = ['exports', 'content', 'directory', 'access'] as const;

export type AuditSource = (typeof auditSources)[number];

/** The actions that an auditor can ask about, by the log that records them: `<area>.<what was done>`, in the past tense. */
export const auditActionsOf = {
  exports: ['export.requested', 'export.replayed', 'export.completed', 'export.failed', 'export.cancelled'],
  content: [
    ...(['content.published', 'content.labelled', 'content.unlabelled', 'content.promoted'] as const),
    ...(['content.deleted', 'content.ended'] as const),
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

/** Who did what when, and which message of which log says so. */
export const auditEntrySchema = z.object({
  /** The id of the commit or record and the number of the entry in it: the same in every reading of a log. */
  id: z.string().min(1).max(80),
  time: timestamp,
  action: z.enum(auditActions),
  actor: actorSchema,
  domain: z.string().optional(),
  jobId: z.string().optional(),
  contentVersion: z.string().optional(),
  label: z.string().optional(),
  keyId: z.string().optional(),
  /** The caller's address. It is personal data, so its documents are removed together with the record. */
  address: z.string().optional(),
  /** The request that asked for it; of the end of an export that was not cancelled, the request that started it. */
  requestId: z.string().max(100).optional(),
  /** HMAC-SHA-256 of the address of that request: the same address gives the same hash within an organization. Older entries have none. */
  addressHash: sha256Hex.optional(),
  /** The job that was done again. */
  replayOf: z.string().optional(),
  /** The key that the new one replaces. */
  oldKeyId: z.string().optional(),
  /** Of a key or an organization. */
  name: z.string().optional(),
  /** Of a key: what it is for. */
  kind: z.string().optional(),
  /** Of the organization. */
  plan: z.string().optional(),
  pageCount: z.int().min(0).optional(),
  sizeBytes: z.int().min(0).optional(),
  /** Of the bundle. */
  sha256: z.string().optional(),
  /** When the link or the replaced key expires. */
  expiresAt: timestamp.optional(),
  /** The start of a failed job's error; its status has all of it. */
  error: z.string().optional(),
  /** Only of records of access: made with the audit key (`head-anchor.ts`). No caller sees it. Older entries have none. */
  anchor: sha256Hex.optional(),
  /** The message behind this entry. Records of access have no revision. */
  commit: z.object({ subject: z.string(), revision: z.int().min(1).optional(), id: z.string() }),
});

export type AuditEntry = z.infer<typeof auditEntrySchema>;

/**
 * A text that sorts entries by time, then by their order in the aggregate. It depends on the entry alone, so the order is the
 * same in whichever order logs are read. Pure.
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

/** Figures of a day; those that are 0 are left out. */
export const someUsageFiguresSchema = z.partialRecord(z.enum(usageFigureNames), figure);

export type SomeUsageFigures = z.infer<typeof someUsageFiguresSchema>;
