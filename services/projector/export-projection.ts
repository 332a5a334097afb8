import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { JobListDocument } from '#shared/contracts/read-model-documents.ts';
import { jobListKey, jobStatusKey } from '#shared/contracts/read-model-keys.ts';
import { addToJobList } from './add-to-job-list.ts';
import { archivedCommits } from '#shared/export-archive/archived-commits.ts';
import { auditTrail } from './audit-trail.ts';
import { exportAuditEntries } from './export-audit-entries.ts';
import { commitFold } from './fold.ts';
import type { ProjectionSource, Store } from './projection.ts';

/** Status of each job, the jobs of each day, and who had what exported. */
export const exportProjection: ProjectionSource<ExportCommit> = {
  name: 'exports',
  openReader: (bus, generation) => bus.readers.projectorExports(generation),
  archived: archivedCommits,
  into: ({ jobStatus, jobList, auditExports, usageExports }, logs) => {
    const trail = auditTrail(auditExports, usageExports);
    return commitFold(
      {
        primary: jobStatus,
        keyOf: ({ data: { state } }) => jobStatusKey(state.organization, state.jobId),
        toDocument: ({ revision, id, time, data }) => ({ revision, commitId: id, updatedAt: time, state: data.state }),
        async writeSecondary(commit) {
          trail.add(commit.data.state.organization, exportAuditEntries(commit));
          await writeJobList(jobList, commit);
        },
        finish: () => trail.write(),
      },
      logs.exports,
    );
  },
};

async function writeJobList(store: Store<JobListDocument>, commit: ExportCommit): Promise<void> {
  const key = jobListKey(commit.data.state.organization, commit.data.state.createdAt);
  for (;;) {
    const stored = await store.get(key, { fromLeader: true });
    const list = addToJobList(stored?.document, commit);
    if (list === undefined) return;
    if ((await store.put(key, list, { expectedRevision: stored?.revision ?? 0 })) !== undefined) return;
  }
}
