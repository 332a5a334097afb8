import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import type { GatewayContext } from '../context.ts';
import { exportJobOf, type JobView, readJob } from './read-job.ts';

/** Interval at which the job is read again and a comment keeps the connection alive. */
const heartbeatMs = 15_000;

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
  let newest = first;
  let wake = () => {};
  const seen = (view: JobView) => {
    const isAfterLoss = view.lost?.some(({ commitId }) => commitId === newest.commitId) ?? false;
    if (view.revision <= newest.revision && !isAfterLoss) return;
    newest = view;
    wake();
  };
  const readAgain = async () => {
    // A failure is retried at the next heartbeat; the stream stays correct meanwhile.
    await readJob(context, organization, jobId).then(seen, () => {});
  };
  const stop = context.jobStatusFeed.watch(jobStatusKey(organization, jobId), seen);
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort);
  let heartbeat: NodeJS.Timeout | undefined;
  try {
    // The job may have changed between the first read and the subscription.
    await readAgain();
    let shown: JobView | undefined;
    while (!signal.aborted) {
      if (newest !== shown) {
        shown = newest;
        const job = exportJobOf(newest);
        yield jobEvent(job);
        if (job.status === 'completed' || job.status === 'failed') return;
        continue;
      }
      const waited = await new Promise<'change' | 'heartbeat'>((resolve) => {
        wake = () => resolve('change');
        heartbeat = setTimeout(() => resolve('heartbeat'), heartbeatMs);
        // The job may have changed or the signal aborted while the last event was sent.
        if (signal.aborted || newest !== shown) wake();
      });
      clearTimeout(heartbeat);
      if (waited === 'change') continue;
      await readAgain();
      yield ': still here\n\n';
    }
  } finally {
    clearTimeout(heartbeat);
    stop();
    signal.removeEventListener('abort', onAbort);
  }
}

const jobEvent = (job: ExportJob): string => `id: ${job.revision}\nevent: job\ndata: ${JSON.stringify(job)}\n\n`;
