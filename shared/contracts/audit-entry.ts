import { z } from 'zod';
import { actorSchema } from './commit.ts';
import { timestamp } from './identifiers.ts';

/** What is folded on its own, and so has audit documents of its own: one log each. */
export const auditSources = ['exports', 'content', 'directory', 'access'] as const;

export type AuditSource = (typeof auditSources)[number];

/** What auditors ask about, by the log that says it. `<area>.<what was done>`, in the past tense. */
export const auditActionsOf = {
  exports: ['export.requested', 'export.replayed', 'export.completed', 'export.failed', 'export.cancelled'],
  content: ['content.published', 'content.labelled', 'content.promoted', 'content.deleted'],
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
  /** Of the commit or record, and which of its entries this is: the same however often a log is read. */
  id: z.string().min(1).max(80),
  time: timestamp,
  action: z.enum(auditActions),
  actor: actorSchema,
  domain: z.string().optional(),
  jobId: z.string().optional(),
  contentVersion: z.string().optional(),
  label: z.string().optional(),
  keyId: z.string().optional(),
  /** Of the caller; personal data, so the documents that have it go when the record does. */
  address: z.string().optional(),
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
  /** Until when the link or the replaced key is good. */
  expiresAt: timestamp.optional(),
  /** The beginning of what a failed job says; its status has all of it. */
  error: z.string().optional(),
  /** What says so. Records of access have no revision. */
  commit: z.object({ subject: z.string(), revision: z.int().min(1).optional(), id: z.string() }),
});

export type AuditEntry = z.infer<typeof auditEntrySchema>;

/**
 * A text that sorts entries by time, then within one aggregate by what came first. It depends on the entry alone, so the order is the
 * same in whichever order logs are read. Pure.
 */
export function auditOrder({ time, commit, id }: Pick<AuditEntry, 'time' | 'commit' | 'id'>): string {
  return `${time} ${commit.subject} ${String(commit.revision ?? 0).padStart(9, '0')} ${id}`;
}

/** What is counted, by the log that says it. Exports that are replays count in `exportsStarted`, too. */
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
] as const;

export type UsageFigureName = (typeof usageFigureNames)[number];

const figure = z.int().min(0);

/** Figures of a day; those that are 0 are left out. */
export const someUsageFiguresSchema = z.partialRecord(z.enum(usageFigureNames), figure);

export type SomeUsageFigures = z.infer<typeof someUsageFiguresSchema>;
