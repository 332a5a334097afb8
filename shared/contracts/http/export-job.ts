import { z } from 'zod';
import type { ExportJobState } from '../export-job-state.ts';
import { contentVersion, domainSlug, jobId, timestamp } from '../identifiers.ts';

export const exportJobStatuses = ['queued', 'running', 'completed', 'failed'] as const;

export type ExportJobStatus = (typeof exportJobStatuses)[number];

/** An export job as the public interface shows it. */
export const exportJobSchema = z.object({
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
});

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
