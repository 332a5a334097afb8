import { z } from 'zod';
import type { ExportCommit, ExportEvent, ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { actorSchema } from '../commit.ts';
import { contentLabel, contentVersion, domainName, domainSlug, jobId, sha256Hex, timestamp } from '../identifiers.ts';
import { deploymentTypes, siteFeatures } from '../stored-objects.ts';

/** Body of `POST /v1/static-export/jobs`. */
export const startExportBodySchema = z
  .strictObject({
    domain: domainName,
    version: contentLabel.optional(),
    /** Page paths, with or without a slash in front. */
    paths: z.array(z.string().min(1).max(1024)).min(1).max(10_000).optional(),
    groups: z.array(z.string().min(1).max(100)).max(100).default([]),
    deployment: z.enum(deploymentTypes).default('cloud'),
    onPageError: z.enum(['fail', 'report']).default('fail'),
    /** Whether the project's own scripts and components run in the reader's browser: they do when this is absent. */
    allowTenantScripts: z.boolean().optional(),
    /** Public key (`svc_dsc_…`) of the organization, with which the pages search and ask the assistant. */
    assistantKey: z.string().max(100).optional(),
    /** What pages can do, where it is not to be as the deployment type has it. */
    features: z.strictObject(siteFeatures).partial().optional(),
  })
  .meta({ title: 'StartExport' });

export type StartExportBody = z.infer<typeof startExportBodySchema>;

/** Header `Idempotency-Key`. */
export const idempotencyKeySchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 printable ASCII characters without spaces');

export const exportJobStatuses = ['queued', 'running', 'completed', 'failed'] as const;

export type ExportJobStatus = (typeof exportJobStatuses)[number];

/** An export job as the public interface shows it. */
export const exportJobSchema = z
  .object({
    jobId,
    domain: domainSlug,
    version: z.string().optional(),
    contentVersion,
    status: z.enum(exportJobStatuses),
    /** 0 to 100, never goes down. */
    progress: z.number().min(0).max(100),
    /** Pages exported so far. */
    pageCount: z.int(),
    /** Once planned. */
    pageTotal: z.int().optional(),
    /** Counts the changes of the job; `?at=` takes it. */
    revision: z.int().min(1),
    createdAt: timestamp,
    updatedAt: timestamp,
    completedAt: timestamp.optional(),
    /** Only when failed: a sentence that names the pages, or who cancelled it. */
    error: z.string().optional(),
    replayOf: jobId.optional(),
    digestMatch: z.enum(['same', 'different', 'renderer-changed']).optional(),
  })
  .meta({ title: 'ExportJob' });

export type ExportJob = z.infer<typeof exportJobSchema>;

/** What a tenant may see of a job's state at one revision. Pure. */
export function toExportJob(state: ExportJobState, revision: number, updatedAt: string): ExportJob {
  return {
    jobId: state.jobId,
    domain: state.domain,
    ...(state.label === undefined ? {} : { version: state.label }),
    contentVersion: state.contentVersion,
    status: exportJobStatus(state.phase),
    progress: state.progress,
    pageCount: state.pageCount,
    ...(state.planHash === undefined ? {} : { pageTotal: state.pageTotal }),
    revision,
    createdAt: state.createdAt,
    updatedAt,
    ...(state.completedAt === undefined ? {} : { completedAt: state.completedAt }),
    ...(state.error === undefined ? {} : { error: state.error }),
    ...(state.replayOf === undefined ? {} : { replayOf: state.replayOf }),
    ...(state.digestMatch === undefined ? {} : { digestMatch: state.digestMatch }),
  };
}

export function exportJobStatus(phase: ExportJobState['phase']): ExportJobStatus {
  if (phase === 'requested') return 'queued';
  if (phase === 'completed') return 'completed';
  return phase === 'failed' || phase === 'cancelled' ? 'failed' : 'running';
}

/** Query of `GET /v1/static-export/jobs`. */
export const listExportsQuerySchema = z.strictObject({
  domain: domainName.optional(),
  status: z.enum(exportJobStatuses).optional(),
  /** Only jobs created at this time or later; a date or a time with offset. */
  since: z.union([z.iso.datetime({ offset: true }), z.iso.date()]).optional(),
  cursor: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

export type ListExportsQuery = z.infer<typeof listExportsQuerySchema>;

/** Newest first; `nextCursor` is absent on the last page. A page may be shorter than asked for although there is another one. */
export const exportListSchema = z
  .object({ jobs: z.array(exportJobSchema), nextCursor: z.string().optional() })
  .meta({ title: 'ExportList' });

export type ExportList = z.infer<typeof exportListSchema>;

/** One event of a job's history as `GET …/events` shows it. */
export const historyEntrySchema = z
  .object({
    /** Events of one decision share a revision. */
    revision: z.int().min(1),
    type: z.string(),
    version: z.int(),
    time: timestamp,
    actor: actorSchema,
    data: z.record(z.string(), z.json()),
  })
  .meta({ title: 'HistoryEntry' });

export type HistoryEntry = z.infer<typeof historyEntrySchema>;

export const exportHistorySchema = z
  .object({ jobId, events: z.array(historyEntrySchema) })
  .meta({ title: 'ExportHistory' });

/** Fields that clients do not see: keys of the object store and of the assistant, and the digest that guards idempotency. */
const internalFields = new Set(['requestDigest', 'bundleKey', 'selectionKey', 'assistantKey']);

/** The entries of one commit. Stream sequences, commit ids and internal fields are left out. Pure. */
export function toHistoryEntries(commit: ExportCommit): HistoryEntry[] {
  return commit.data.events.map((event: ExportEvent) => ({
    revision: commit.revision,
    type: event.type,
    version: event.version,
    time: commit.time,
    actor: commit.actor,
    data: withoutInternalFields(event.data),
  }));
}

function withoutInternalFields(data: object): HistoryEntry['data'] {
  // A parsed event is JSON: going through its text once drops undefined members, too.
  return JSON.parse(JSON.stringify(data, (name, value: unknown) => (internalFields.has(name) ? undefined : value)));
}

/** Answer of `POST …/jobs/{jobId}/bundle`. */
export const bundleLinkSchema = z
  .object({
    jobId,
    bundleUrl: z.string(),
    expiresAt: timestamp,
    sizeBytes: z.int(),
    sha256: sha256Hex,
  })
  .meta({ title: 'BundleLink' });

export type BundleLink = z.infer<typeof bundleLinkSchema>;
