import type { ExportJob } from '#shared/contracts/http/export-job.ts';
import type { ApiClient } from '#services/cli/api-client.ts';
import { type BundleLink, ExportFailed, signBundleLink, startExport } from '#services/cli/export-site.ts';
import { jobPath } from '#services/cli/job-path.ts';

export type TimedExport = { job: ExportJob; link: BundleLink; seconds: number };

/** Exports a domain, from the request to the link. Waits on the live status: polling would add its own steps to short exports. */
export async function exportToLink(admin: ApiClient, domain: string): Promise<TimedExport> {
  const startedAt = performance.now();
  const { jobId } = await startExport(admin, { domain });
  const job = await lastStatus(admin, jobId);
  if (job.status !== 'completed') throw new ExportFailed(job.error ?? 'The export did not end.');
  const link = await signBundleLink(admin, jobId);
  return { job, link, seconds: (performance.now() - startedAt) / 1_000 };
}

async function lastStatus(admin: ApiClient, jobId: string): Promise<ExportJob> {
  const answer = await admin.raw(jobPath(jobId), { headers: { accept: 'text/event-stream' } });
  let last: ExportJob | undefined;
  let text = '';
  for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (text + part).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data:')) last = JSON.parse(line.slice('data:'.length)) as ExportJob;
    if (last?.status === 'completed' || last?.status === 'failed') break;
  }
  if (last === undefined) throw new Error(`The live status of ${jobId} ended before it said anything.`);
  return last;
}
