import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import type { GatewayContext } from '../context.ts';
import { newestRevisions } from '../newest-revisions.ts';
import { exportJobOf, type JobView, readJob } from './read-job.ts';

/**
 * A job as server-sent events: its current state, then every change, until it has ended. A slow reader gets the newest state and misses some in
 * between. Updates may get lost on the way, so the job is read again every 15 seconds.
 */
export async function* jobEventStream(
  context: Pick<GatewayContext, 'bus' | 'jobStatusFeed'>,
  organization: string,
  first: JobView,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { jobId } = first.state;
  const views = newestRevisions<JobView>(
    {
      first,
      watch: (listener) => context.jobStatusFeed.watch(jobStatusKey(organization, jobId), listener),
      read: () => readJob(context, organization, jobId),
    },
    signal,
  );
  for await (const view of views) {
    if (view === 'quiet') {
      yield ': still here\n\n';
      continue;
    }
    const job = exportJobOf(view);
    yield jobEvent(job);
    if (job.status === 'completed' || job.status === 'failed') return;
  }
}

const jobEvent = (job: ExportJob): string => `id: ${job.revision}\nevent: job\ndata: ${JSON.stringify(job)}\n\n`;
