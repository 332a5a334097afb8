import { ApiError } from '#shared/errors/api-error.ts';
import type { RequestOrigin } from './append-to-directory.ts';
import { askBus, writeWithinMs } from './ask-bus.ts';
import type { GatewayContext } from './context.ts';
import { type JobView, readJobForDecision, viewOf } from './read-job.ts';

/** Reports that the job should end; the orchestrator decides. Asking again is fine, also when the job has been cancelled. */
export async function cancelExport(
  context: Pick<GatewayContext, 'bus' | 'clock' | 'random'>,
  organization: string,
  jobId: string,
  origin: RequestOrigin,
): Promise<JobView> {
  const { commit } = await readJobForDecision(context, organization, jobId);
  const { phase } = commit.data.state;
  if (phase === 'completed' || phase === 'failed') {
    throw new ApiError('job_ended', `The job ${jobId} has ended (${phase}) and cannot be cancelled.`);
  }
  if (phase !== 'cancelled') {
    await askBus(
      context.bus.facts.record({
        type: 'CancelRequested',
        version: 1,
        id: `cr_${context.random(22)}`,
        source: 'gateway',
        time: context.clock.now().toISOString(),
        organization,
        jobId,
        traceparent: origin.traceparent,
        data: { actor: origin.actor },
      }),
      writeWithinMs,
    );
  }
  return viewOf(commit);
}
