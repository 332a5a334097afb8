import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';

/** A job that has a bundle. */
export type CompletedJob = ExportJobState & { bundle: NonNullable<ExportJobState['bundle']> };

/** The state of a completed job from its log. Throws `not_found`, also for another organization's job, and `not_completed`. */
export async function completedJob(
  bus: Pick<BusParts, 'exports'>,
  organization: string,
  jobId: string,
): Promise<CompletedJob> {
  const last = await bus.exports.last(exportLogSubject(organization, jobId), { fromLeader: true });
  if (last === undefined) throw new ApiError('not_found', `There is no export job "${jobId}" in this organization.`);
  const { state } = last.commit.data;
  const { bundle, phase, error } = state;
  if (phase === 'failed' || phase === 'cancelled') {
    const how = phase === 'cancelled' ? 'was cancelled' : 'failed';
    throw new ApiError('not_completed', `The job ${jobId} ${how}, so it has no bundle: ${error ?? 'see its status'}`);
  }
  if (phase !== 'completed' || bundle === undefined) {
    throw new ApiError(
      'not_completed',
      `The job ${jobId} is not completed. Poll its status until it says "completed", then ask again.`,
    );
  }
  return { ...state, bundle };
}

export const bundleRemoved = (jobId: string): ApiError =>
  new ApiError('not_found', `The bundle of ${jobId} has been removed. Replay the job to make it again.`);
