import { setTimeout as delay } from 'node:timers/promises';
import type { ExportJob } from '#shared/contracts/http/export-job.ts';
import type { ApiClient } from '#services/cli/api-client.ts';
import { jobPath } from '#services/cli/job-path.ts';
import { whileAway } from '#services/cli/while-away.ts';

const everyMs = 50;

/** The job as soon as its status is one that `wanted` takes, asked over the public interface. Rejects when it ends without. */
export async function whenJob(
  client: ApiClient,
  jobId: string,
  wanted: (job: ExportJob) => boolean,
): Promise<ExportJob> {
  for (;;) {
    const job = await whileAway(() => client.json<ExportJob>(jobPath(jobId)));
    if (wanted(job)) return job;
    if (job.status === 'failed' || job.status === 'completed') {
      throw new Error(`The job ${jobId} ended before that: ${job.error ?? job.status}`);
    }
    await delay(everyMs);
  }
}

/** Some of its pages are in, some are not: the middle of an export. */
export const isUnderWay = ({ status, pageCount, pageTotal }: ExportJob): boolean =>
  status === 'running' && pageTotal !== undefined && pageCount > 0 && pageCount < pageTotal;
