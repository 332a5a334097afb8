import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExportJob } from '#shared/contracts/http/export-job.ts';
import { type ApiClient, ApiFailure } from './api-client.ts';

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
const awayRetryMs = 250;
const awayDeadlineMs = 60_000;

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
    const job = await whileAway(() => client.json<ExportJob>(`/v1/static-export/jobs/${jobId}`));
    onChange(job);
    if (job.status === 'completed') return job;
    if (job.status === 'failed') throw new ExportFailed(job.error ?? 'The export failed without a reason.');
    await delay(pollMs);
  }
}

export type BundleLink = { jobId: string; bundleUrl: string; expiresAt: string; sizeBytes: number; sha256: string };

export function signBundleLink(client: ApiClient, jobId: string): Promise<BundleLink> {
  return whileAway(() => client.json<BundleLink>(`/v1/static-export/jobs/${jobId}/bundle`, { method: 'POST' }));
}

/** Repeats a harmless call for as long as the server cannot be reached or says that a needed system is down, up to a minute. */
async function whileAway<T>(call: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + awayDeadlineMs; ; await delay(awayRetryMs)) {
    try {
      return await call();
    } catch (error) {
      const away = error instanceof ApiFailure && (error.code === 'unreachable' || error.code === 'unavailable');
      if (!away || performance.now() > deadline) throw error;
    }
  }
}
