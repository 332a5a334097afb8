import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import { exportJobStatus } from '#shared/contracts/http/export-job.ts';
import type { JobListDocument } from '#shared/contracts/read-model-documents.ts';

/**
 * The day's list after one more commit, or undefined when it says the same as before. An entry is touched only when the status changes,
 * so a job costs the list three writes however many chunks it has; `revision` is the one at which it did. Pure.
 */
export function addToJobList(list: JobListDocument | undefined, commit: ExportCommit): JobListDocument | undefined {
  const { jobId, domain, createdAt, phase } = commit.data.state;
  const entry = { jobId, domain, createdAt, revision: commit.revision, status: exportJobStatus(phase) };
  const jobs = list?.jobs ?? [];
  const known = jobs.find((job) => job.jobId === jobId);
  if (known !== undefined && (known.revision >= entry.revision || known.status === entry.status)) return undefined;
  const changed = [...jobs.filter((job) => job !== known), entry];
  return { jobs: changed.sort((a, b) => compare(a.createdAt, b.createdAt) || compare(a.jobId, b.jobId)) };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
