import type { ExportCommit, ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import type { Actor } from '#shared/contracts/commit.ts';
import { exportJobStatus } from '#shared/interfaces/http/exports.ts';
import { type JobListEntry, jobListOrder, jobStatusKey } from '#shared/interfaces/read-models.ts';
import { archivedHistories } from '#shared/messaging/log/archived-jobs.ts';
import { auditTrail, entriesOf, type Said, shortened } from './audit-trail.ts';
import { dayList, type DayListKind } from './day-list.ts';
import { dropArchivedJobs } from './drop-archived-jobs.ts';
import { commitHandler, type ProjectionSource } from './projection.ts';

/** The status of each job, the jobs of each day, and the audit entries of exports. */
export const exportProjection: ProjectionSource<ExportCommit> = {
  name: 'exports',
  shape: 3,
  openReader: (bus, generation) => bus.projectionReaders.exports(generation),
  archived: {
    histories: archivedHistories,
    // The job's status is read from the archive instead, so only audit and usage are filled.
    into: ({ auditExports, auditExportsDays, usageExports }) => {
      const trail = auditTrail({ days: auditExportsDays, parts: auditExports }, usageExports);
      return {
        fold: async (commit) => trail.add(commit.data.state.organization, exportAuditEntries(commit)),
        finish: () => trail.write(),
      };
    },
  },
  expire: (generations, context) => dropArchivedJobs(generations, context, jobListKind()),
  into: ({ jobStatus, jobList, jobDays, auditExports, auditExportsDays, usageExports }, logs, by) => {
    const anew = new WeakSet<JobListEntry>();
    const jobs = dayList(
      { days: jobDays, parts: jobList },
      jobListKind((entry) => anew.has(entry)),
    );
    const trail = auditTrail({ days: auditExportsDays, parts: auditExports }, usageExports);
    return commitHandler(
      {
        primary: jobStatus,
        keyOf: ({ data: { state } }) => jobStatusKey(state.organization, state.jobId),
        async writeSecondary(commit, lost) {
          const { organization, jobId, domain, createdAt, phase } = commit.data.state;
          trail.add(organization, exportAuditEntries(commit));
          const { revision } = commit;
          const entry = { jobId, domain, createdAt, revision, status: exportJobStatus(phase) };
          if (lost !== undefined) anew.add(entry);
          jobs.add(organization, entry);
        },
        async finish() {
          await jobs.write();
          await trail.write();
        },
      },
      logs.exports,
      by,
    );
  },
};

/**
 * An entry changes only with the status of its job, so a job costs the list three writes however many chunks it has. An entry for which `isAnew` is
 * true replaces the one from lost commits.
 */
const jobListKind = (isAnew: (entry: JobListEntry) => boolean = () => false): DayListKind<JobListEntry> => ({
  orderOf: jobListOrder,
  newer: (known, coming) =>
    isAnew(coming) || (known.revision < coming.revision && known.status !== coming.status) ? coming : known,
  size: 250,
});

/** Audit entries of a job: its request and its end. Pure. */
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
      case 'PagesPlanned':
      case 'PagesReplanned':
      case 'ChunkRendered':
      case 'ChunksReused':
      case 'ChunkFailed':
      case 'ChunkTimedOut':
      case 'SegmentLost':
      case 'RenderingFinished':
      case 'ClosingRendered':
      case 'ClosingFailed':
      case 'BundleFailed':
        return [];
    }
  });
}

/** The actor of a cancellation. The orchestrator commits it, and the event has only the caller's id. */
const whoCancelled = (id: string): Actor => ({ kind: id.startsWith('key_') ? 'key' : 'service', id });
