import type { ExportCommit, ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import type { Actor } from '#shared/contracts/commit.ts';
import { exportJobStatus } from '#shared/contracts/http/exports.ts';
import { type JobListDocument, jobListKey, jobStatusKey } from '#shared/contracts/read-models.ts';
import { archivedHistories } from '#shared/export/archived-jobs.ts';
import { auditTrail, entriesOf, type Said, shortened } from './audit-trail.ts';
import { commitHandler, type ProjectionSource, updateDocument } from './projection.ts';

/** The status of each job, the jobs of each day, and who exported what. */
export const exportProjection: ProjectionSource<ExportCommit> = {
  name: 'exports',
  openReader: (bus, generation) => bus.projectionReaders.exports(generation),
  archived: archivedHistories,
  into: ({ jobStatus, jobList, auditExports, usageExports }, logs, by) => {
    const trail = auditTrail(auditExports, usageExports);
    return commitHandler(
      {
        primary: jobStatus,
        keyOf: ({ data: { state } }) => jobStatusKey(state.organization, state.jobId),
        async writeSecondary(commit, lost) {
          trail.add(commit.data.state.organization, exportAuditEntries(commit));
          const { organization, createdAt } = commit.data.state;
          await updateDocument(jobList, jobListKey(organization, createdAt), (list) =>
            addToJobList(list, commit, lost !== undefined),
          );
        },
        finish: () => trail.write(),
      },
      logs.exports,
      by,
    );
  },
};

/**
 * The day's list after one more commit, or undefined when it stays the same. An entry changes only with the status, so a job costs the
 * list three writes however many chunks it has; `revision` is the one at which the status changed. With `anew` the known entry
 * is one of commits that were lost. Pure.
 */
function addToJobList(
  list: JobListDocument | undefined,
  commit: ExportCommit,
  anew: boolean,
): JobListDocument | undefined {
  const { jobId, domain, createdAt, phase } = commit.data.state;
  const entry = { jobId, domain, createdAt, revision: commit.revision, status: exportJobStatus(phase) };
  const jobs = list?.jobs ?? [];
  const known = jobs.find((job) => job.jobId === jobId);
  const isKnown = known !== undefined && (known.revision >= entry.revision || known.status === entry.status);
  if (isKnown && !anew) return undefined;
  const changed = [...jobs.filter((job) => job !== known), entry];
  return { jobs: changed.sort((a, b) => compare(a.createdAt, b.createdAt) || compare(a.jobId, b.jobId)) };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What auditors see of a job: its request and its end. Pure. */
export function exportAuditEntries(commit: ExportCommit): AuditEntry[] {
  const { jobId, domain, contentVersion, label, pageCount } = commit.data.state;
  const job = { jobId, domain, contentVersion, ...(label === undefined ? {} : { label }) };
  return entriesOf(commit, (event: ExportEvent): Said[] => {
    switch (event.type) {
      case 'ExportRequested': {
        const { replayOf } = event.data;
        return replayOf === undefined
          ? [{ action: 'export.requested', ...job }]
          : [{ action: 'export.replayed', ...job, replayOf }];
      }
      case 'ExportCompleted': {
        const { sizeBytes, sha256 } = event.data;
        return [{ action: 'export.completed', ...job, pageCount, sizeBytes, sha256 }];
      }
      case 'ExportFailed':
        return [{ action: 'export.failed', ...job, error: shortened(event.data.error) }];
      case 'ExportCancelled':
        return [{ action: 'export.cancelled', ...job, actor: whoCancelled(event.data.cancelledBy) }];
      default:
        return [];
    }
  });
}

/** The orchestrator commits what a caller asked for. The event has only the caller's id. */
const whoCancelled = (id: string): Actor => ({ kind: id.startsWith('key_') ? 'key' : 'service', id });
