import type { ExportJob } from '#shared/interfaces/http/exports.ts';

/** A running job as the public interface shows it; tests override the fields that matter to them. */
export function exportJob(changes: Partial<ExportJob> = {}): ExportJob {
  return {
    jobId: `se_${'a'.repeat(22)}`,
    domain: 'acme',
    contentVersion: `cv_${'1'.repeat(32)}`,
    status: 'running',
    progress: 63.2,
    pageCount: 664,
    revision: 7,
    createdAt: '2026-03-01T10:00:00.000Z',
    updatedAt: '2026-03-01T10:00:10.000Z',
    ...changes,
  };
}
