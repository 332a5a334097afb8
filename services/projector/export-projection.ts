import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { JobListDocument, JobStatusDocument } from '#shared/contracts/read-model-documents.ts';
import { jobListKey, jobStatusKey } from '#shared/contracts/read-model-keys.ts';
import { addToJobList } from './add-to-job-list.ts';
import type { ProjectionSource, Store } from './projection.ts';

/** Status of each job, and the jobs of each day. */
export const exportProjection: ProjectionSource<ExportCommit, JobStatusDocument> = {
  name: 'exports',
  openReader: (bus, generation) => bus.readers.projectorExports(generation),
  log: (bus) => bus.exports,
  into: ({ jobStatus, jobList }) => ({
    primary: jobStatus,
    keyOf: ({ data: { state } }) => jobStatusKey(state.organization, state.jobId),
    toDocument: ({ revision, id, time, data }) => ({ revision, commitId: id, updatedAt: time, state: data.state }),
    writeSecondary: (commit) => writeJobList(jobList, commit),
  }),
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
