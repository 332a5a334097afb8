import { z } from 'zod';
import type { ExportCommit, ExportEvent, ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { actorSchema } from '#shared/contracts/commit.ts';
import { diagnosticSchema } from '#shared/contracts/diagnostic.ts';
import {
  contentLabel,
  contentVersion,
  domainName,
  domainSlug,
  jobId,
  sha256Hex,
  timestamp,
} from '#shared/contracts/identifiers.ts';
import { deploymentTypes, siteFeatures } from '#shared/contracts/stored-objects.ts';

/** Body of `POST /v1/static-export/jobs`. */
export const startExportBodySchema = z
  .strictObject({
    domain: domainName,
    version: contentLabel.optional(),
    /** Page paths, with or without a leading slash. */
    paths: z.array(z.string().min(1).max(1024)).min(1).max(10_000).optional(),
    groups: z.array(z.string().min(1).max(100)).max(100).default([]),
    deployment: z.enum(deploymentTypes).default('cloud'),
    onPageError: z.enum(['fail', 'report']).default('fail'),
    /** True if the project's own scripts and components run in the reader's browser, which is the default. */
    allowTenantScripts: z.boolean().optional(),
    /** Public key (`svc_dsc_…`) of the organization, with which the pages search and ask the assistant. */
    assistantKey: z.string().max(100).optional(),
    /** Features of the pages that differ from the defaults of the deployment type. */
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

/** An export job in the public interface. */
export const exportJobSchema = z
  .object({
    jobId,
    domain: domainSlug,
    version: z.string().optional(),
    contentVersion,
    status: z.enum(exportJobStatuses),
    /** Percentage from 0 to 100 that never decreases. */
    progress: z.number().min(0).max(100),
    /** Pages exported so far. */
    pageCount: z.int(),
    /** Present once the job is planned. */
    pageTotal: z.int().optional(),
    /** Number of changes of the job, for `?at=`. */
    revision: z.int().min(1),
    createdAt: timestamp,
    updatedAt: timestamp,
    completedAt: timestamp.optional(),
    /** Present if the job failed: a sentence that names the pages, or the key that cancelled it. */
    error: z.string().optional(),
    replayOf: jobId.optional(),
    digestMatch: z.enum(['same', 'different', 'renderer-changed']).optional(),
    /** True if nothing had changed since an earlier export, so the job uses the verified bundle of that export. */
    reusedBundle: z.literal(true).optional(),
  })
  .meta({ title: 'ExportJob' });

export type ExportJob = z.infer<typeof exportJobSchema>;

/** The fields of a job's state at one revision that a tenant may see. Pure. */
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
    ...(state.reusedBundle === undefined ? {} : { reusedBundle: state.reusedBundle }),
  };
}

/** The public status of a phase: a cancelled job has failed, and all phases after the request and before the end are `running`. */
export function exportJobStatus(phase: ExportJobState['phase']): ExportJobStatus {
  if (phase === 'requested') return 'queued';
  if (phase === 'completed') return 'completed';
  return phase === 'failed' || phase === 'cancelled' ? 'failed' : 'running';
}

/** Query of `GET /v1/static-export/jobs`. */
export const listExportsQuerySchema = z.strictObject({
  domain: domainName.optional(),
  status: z.enum(exportJobStatuses).optional(),
  /** Only jobs created at this time or later, given as a date or a time with offset. */
  since: z.union([z.iso.datetime({ offset: true }), z.iso.date()]).optional(),
  cursor: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

export type ListExportsQuery = z.infer<typeof listExportsQuerySchema>;

/** Newest first. `nextCursor` is absent on the last page. A page may be shorter than the limit although further pages follow. */
export const exportListSchema = z
  .object({ jobs: z.array(exportJobSchema), nextCursor: z.string().optional() })
  .meta({ title: 'ExportList' });

export type ExportList = z.infer<typeof exportListSchema>;

/** One event of a job's history in the answer of `GET …/events`. */
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

export type ExportHistory = z.infer<typeof exportHistorySchema>;

/** Fields that are hidden from clients: keys of the object store and of the assistant, and the digest for idempotency. */
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

/** The data of an event as clients see it, without members that are undefined. A parsed event is JSON, so its parts are taken as they are. */
function withoutInternalFields(data: object): HistoryEntry['data'] {
  const shown: HistoryEntry['data'] = {};
  for (const name in data) {
    const value = (data as Record<string, Json | undefined>)[name];
    if (value !== undefined && !internalFields.has(name)) shown[name] = shownPart(value);
  }
  return shown;
}

type Json = HistoryEntry['data'][string];

function shownPart(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map(shownPart) : withoutInternalFields(value);
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

/** A link for hosts that have earlier bundles of the site: with the pieces they fetch only the byte ranges that they do not have. */
export const siteLinkSchema = bundleLinkSchema
  .extend({
    /** Link to the list of the bundle's pieces, its SHA-256, and that of the manifest; absent for bundles of older versions. */
    pieces: z.object({ url: z.string(), sha256: sha256Hex, manifestSha256: sha256Hex }).optional(),
  })
  .meta({ title: 'SiteBundleLink' });

export type SiteLink = z.infer<typeof siteLinkSchema>;

const findingsAtOnce = 1_000;

/** Query of `GET …/jobs/{jobId}/report`. */
export const exportReportQuerySchema = z.strictObject({
  /** Limits the findings to this page, given with or without a leading slash. */
  page: z.string().min(1).max(1024).optional(),
  /** Limits the findings to this severity. */
  severity: diagnosticSchema.shape.severity.optional(),
  /** Limits the findings to this code, such as `broken-link`. */
  code: diagnosticSchema.shape.code.max(100).optional(),
  /** `nextCursor` of the previous answer. */
  cursor: z
    .string()
    .regex(/^[0-9]{1,9}$/, 'must be the "nextCursor" of an earlier answer')
    .optional(),
  /** Maximum number of findings. */
  limit: z.coerce.number().int().min(1).max(findingsAtOnce).default(200),
});

export type ExportReportQuery = z.infer<typeof exportReportQuerySchema>;

/** A finding of an export. `file`: the source in the project, if it is known. */
const findingSchema = diagnosticSchema.extend({ file: z.string().optional() });

export type Finding = z.infer<typeof findingSchema>;

const findingCount = z.int().min(0);

/** Answer of `GET …/jobs/{jobId}/report`: the findings of an export for authors. */
export const exportReportSchema = z
  .object({
    jobId,
    /** Numbers of all findings. A broken link is a warning. `notListed`: findings that are counted, but in no list. */
    summary: z.object({
      pages: findingCount,
      failedPages: findingCount,
      errors: findingCount,
      warnings: findingCount,
      infos: findingCount,
      brokenLinks: findingCount,
      notListed: findingCount.optional(),
    }),
    /** Numbers by code, errors first, then the most frequent ones. `example`: the message of the first one. */
    byCode: z.array(
      z.object({
        code: z.string(),
        severity: diagnosticSchema.shape.severity,
        count: findingCount,
        files: findingCount,
        example: z.string(),
      }),
    ),
    /**
     * Findings by page, in the order of the bundle. The first entry has no `path` if there are findings about the whole project. A page whose
     * findings do not fit continues in the next answer.
     */
    pages: z.array(z.object({ path: z.string().optional(), findings: z.array(findingSchema).min(1) })),
    /** Cursor of the next answer; absent with the last findings. */
    nextCursor: z.string().optional(),
  })
  .meta({ title: 'ExportReport' });

export type ExportReport = z.infer<typeof exportReportSchema>;
