import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExportJob } from '#shared/contracts/http/export-job.ts';
import type { ApiClient } from './api-client.ts';
import { jobPath } from './job-path.ts';
import { whileAway } from './while-away.ts';

export type ExportRequest = {
  domain: string;
  version?: string | undefined;
  paths?: string[] | undefined;
  groups?: string[] | undefined;
  deployment?: string | undefined;
  onPageError?: string | undefined;
};

/** A job that ended as `failed`; the message is its error. */
export class ExportFailed extends Error {
  override name = 'ExportFailed';
}

const firstPollMs = 100;
const slowestPollMs = 2_000;

/** Starts a job. Asks again while the server is away: the idempotency key makes the same request the same job. */
export function startExport(
  client: ApiClient,
  request: ExportRequest,
  idempotencyKey: string = randomUUID(),
): Promise<ExportJob> {
  return whileAway(() =>
    client.json<ExportJob>('/v1/static-export/jobs', {
      method: 'POST',
      json: request,
      headers: { 'idempotency-key': idempotencyKey },
    }),
  );
}

/** Polls until the job is completed, more slowly the longer it takes. Rejects with `ExportFailed`. */
export async function waitForExport(
  client: ApiClient,
  jobId: string,
  onChange: (job: ExportJob) => void,
): Promise<ExportJob> {
  for (let pollMs = firstPollMs; ; pollMs = Math.min(slowestPollMs, pollMs * 1.2)) {
    const job = await whileAway(() => client.json<ExportJob>(jobPath(jobId)));
    onChange(job);
    if (job.status === 'completed') return job;
    if (job.status === 'failed') throw new ExportFailed(job.error ?? 'The export failed without a reason.');
    await delay(pollMs);
  }
}

export type BundleLink = { jobId: string; bundleUrl: string; expiresAt: string; sizeBytes: number; sha256: string };

export function signBundleLink(client: ApiClient, jobId: string): Promise<BundleLink> {
  return whileAway(() => client.json<BundleLink>(`${jobPath(jobId)}/bundle`, { method: 'POST' }));
}
