import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { ExportJobState } from '#shared/contracts/export-job-state.ts';
import { type ExportJob, toExportJob } from '#shared/contracts/http/export-job.ts';
import { jobId as jobIdSchema } from '#shared/contracts/identifiers.ts';
import { jobStatusKey } from '#shared/contracts/read-model-keys.ts';
import { ApiError } from '#shared/errors/api-error.ts';
import type { StoredCommit } from '#shared/event-log/event-log.ts';
import { exportLogSubject } from '#shared/subjects/subject-names.ts';
import { askBus } from './ask-bus.ts';
import type { GatewayContext } from './context.ts';

/** A job's state at a revision. */
export type JobView = { state: ExportJobState; revision: number; updatedAt: string };

type Reader = Pick<GatewayContext, 'bus'>;

/** What the read model says of a job or, where it has not got there yet, the log. Throws `not_found`, also for another organization's job. */
export async function readJob({ bus }: Reader, organization: string, jobId: string): Promise<JobView> {
  checkJobId(jobId);
  const stored = await askBus(bus.documents.jobStatus.get(jobStatusKey(organization, jobId)));
  if (stored !== undefined) return stored.document;
  const last = await askBus(bus.exports.last(exportLogSubject(organization, jobId)));
  if (last === undefined) throw noSuchJob(jobId);
  return viewOf(last.commit);
}

/** The newest commit of a job, never an older one than was acknowledged: for decisions. Throws `not_found`. */
export async function readJobForDecision(
  { bus }: Reader,
  organization: string,
  jobId: string,
): Promise<StoredCommit<ExportCommit>> {
  checkJobId(jobId);
  const last = await askBus(bus.exports.last(exportLogSubject(organization, jobId), { fromLeader: true }));
  if (last === undefined) throw noSuchJob(jobId);
  return last;
}

export const viewOf = (commit: ExportCommit): JobView => ({
  state: commit.data.state,
  revision: commit.revision,
  updatedAt: commit.time,
});

export const shownJob = ({ state, revision, updatedAt }: JobView): ExportJob => toExportJob(state, revision, updatedAt);

export const noSuchJob = (jobId: string): ApiError =>
  new ApiError('not_found', `There is no export job "${jobId.slice(0, 100)}" in this organization.`);

/** A text that cannot be a job's id names nothing; it must not get into a subject. */
function checkJobId(jobId: string): void {
  if (!jobIdSchema.safeParse(jobId).success) throw noSuchJob(jobId);
}
