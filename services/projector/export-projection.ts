import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { JobListDocument, JobStatusDocument } from '#shared/contracts/read-model-documents.ts';
import { jobListKey, jobStatusKey } from '#shared/contracts/read-model-keys.ts';
import type { DocumentStore } from '#shared/read-model/document-store.ts';
import { addToJobList } from './add-to-job-list.ts';
import type { Projection } from './projection.ts';

/** Status of each job, and the jobs of each day. */
export function exportProjection(documents: {
  jobStatus: DocumentStore<JobStatusDocument>;
  jobList: DocumentStore<JobListDocument>;
}): Projection<ExportCommit, JobStatusDocument> {
  return {
    name: 'exports',
    stream: 'EXPORTS',
    primary: documents.jobStatus,
    keyOf: ({ data: { state } }) => jobStatusKey(state.organization, state.jobId),
    toDocument: ({ revision, id, time, data }) => ({ revision, commitId: id, updatedAt: time, state: data.state }),
    writeSecondary: async (commit) => {
      const key = jobListKey(commit.data.state.organization, commit.data.state.createdAt);
      for (;;) {
        const stored = await documents.jobList.get(key, { fromLeader: true });
        const list = addToJobList(stored?.document, commit);
        if (list === undefined) return;
        if ((await documents.jobList.put(key, list, { expectedRevision: stored?.revision ?? 0 })) !== undefined) return;
      }
    },
  };
}
