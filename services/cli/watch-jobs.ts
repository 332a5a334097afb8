import { setTimeout as delay } from 'node:timers/promises';
import type { ExportJob } from '#shared/contracts/http/export-job.ts';
import type { ExportList } from '#shared/contracts/http/list-exports.ts';
import type { ApiClient } from './api-client.ts';
import { ExportFailed } from './export-site.ts';
import { followJob } from './follow-job.ts';
import { jobLine, jobPanel, jobTable } from './job-table.ts';
import { liveArea } from './live-area.ts';
import { paintFor } from './paint.ts';
import { terminalWidth } from './terminal-width.ts';
import { whileAway } from './while-away.ts';

export type WatchOptions = {
  json: boolean;
  stream: { isTTY?: boolean; columns?: number; rows?: number; write(text: string): unknown };
};

const pollMs = 1_000;
const tickMs = 1_000;
/** Lines of the table that are no jobs, and the line of the cursor. */
const otherLines = 3;

/** Shows a job until it has ended: drawn over itself on a terminal, else a line per change. Rejects with `ExportFailed` when it failed. */
export async function watchJob(client: ApiClient, jobId: string, { json, stream }: WatchOptions): Promise<void> {
  const isLive = !json && stream.isTTY === true;
  const area = liveArea(stream);
  let job: ExportJob | undefined;
  const draw = () => {
    if (job !== undefined) area.draw(jobPanel(job, new Date(), looks(stream)));
  };
  // Time goes on also while nothing changes.
  const ticking = isLive ? setInterval(draw, tickMs) : undefined;
  try {
    for await (const changed of followJob(client, jobId)) {
      job = changed;
      if (isLive) draw();
      else stream.write(`${json ? JSON.stringify(job) : jobLine(job)}\n`);
    }
  } finally {
    clearInterval(ticking);
  }
  if (job?.status === 'failed') throw new ExportFailed(job.error ?? 'The export failed without a reason.');
}

/** Shows the jobs that a query finds until the process is ended: as a table on a terminal, else a line per job and change. */
export async function watchJobs(
  client: ApiClient,
  query: Record<string, string | undefined>,
  { json, stream }: WatchOptions,
): Promise<never> {
  const isLive = !json && stream.isTTY === true;
  const area = liveArea(stream);
  let before: readonly ExportJob[] = [];
  for (;;) {
    const { jobs } = await whileAway(() => client.json<ExportList>('/v1/static-export/jobs', { query }));
    if (isLive) {
      const room = Math.max(1, (stream.rows ?? Number.POSITIVE_INFINITY) - otherLines);
      area.draw([...jobTable(jobs.slice(0, room), new Date(), looks(stream)), countsOf(jobs)]);
    } else {
      for (const job of changedJobs(before, jobs)) stream.write(`${json ? JSON.stringify(job) : jobLine(job)}\n`);
    }
    before = jobs;
    await delay(pollMs);
  }
}

/** The jobs that are new or have changed, oldest first. Pure. */
export function changedJobs(before: readonly ExportJob[], now: readonly ExportJob[]): ExportJob[] {
  const known = new Map(before.map(({ jobId, revision }) => [jobId, revision]));
  return now.filter(({ jobId, revision }) => known.get(jobId) !== revision).toReversed();
}

/** `2 running, 1 queued`. Pure. */
export function countsOf(jobs: readonly ExportJob[]): string {
  const counts = (['running', 'queued', 'completed', 'failed'] as const).flatMap((status) => {
    const count = jobs.filter((job) => job.status === status).length;
    return count === 0 ? [] : [`${count} ${status}`];
  });
  return counts.length === 0 ? 'No export jobs.' : counts.join(', ');
}

const looks = (stream: WatchOptions['stream']) => ({
  width: terminalWidth(stream),
  paint: paintFor(stream, process.env),
});
