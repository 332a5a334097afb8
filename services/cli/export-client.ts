import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { BundleLink, ExportJob } from '#shared/interfaces/http/exports.ts';
import { type BundleReport, verifyBundle } from '#shared/export/bundle/verify-bundle.ts';
import { replaceFetch } from '#shared/http/replace-fetch.ts';
import { connectionProblem } from '#shared/runtime/connection-problem.ts';
import { type ApiClient, jobPath, retryWhileAway, sseData } from './api-client.ts';

export type ExportRequest = {
  domain: string;
  version?: string | undefined;
  paths?: string[] | undefined;
  groups?: string[] | undefined;
  deployment?: string | undefined;
  onPageError?: string | undefined;
  allowTenantScripts?: boolean | undefined;
  assistantKey?: string | undefined;
  features?: Record<string, string | boolean> | undefined;
};

/** A job that ended as `failed`; the message is its error. */
export class ExportFailed extends Error {
  override name = 'ExportFailed';
}

const firstPollMs = 100;
const slowestPollMs = 2_000;

/** Starts a job. Retries while the server is unavailable: the idempotency key makes the same request the same job. */
export function startExport(
  client: ApiClient,
  request: ExportRequest,
  idempotencyKey: string = randomUUID(),
): Promise<ExportJob> {
  return retryWhileAway(() =>
    client.json<ExportJob>('/v1/static-export/jobs', {
      method: 'POST',
      json: request,
      headers: { 'idempotency-key': idempotencyKey },
    }),
  );
}

/** Polls until the job is completed, with a growing interval. Rejects with `ExportFailed`. */
export async function waitForExport(
  client: ApiClient,
  jobId: string,
  onChange: (job: ExportJob) => void,
): Promise<ExportJob> {
  for (let pollMs = firstPollMs; ; pollMs = Math.min(slowestPollMs, pollMs * 1.2)) {
    const job = await retryWhileAway(() => client.json<ExportJob>(jobPath(jobId)));
    onChange(job);
    if (job.status === 'completed') return job;
    if (job.status === 'failed') throw new ExportFailed(job.error ?? 'The export failed without a reason.');
    await delay(pollMs);
  }
}

export function signBundleLink(client: ApiClient, jobId: string): Promise<BundleLink> {
  return retryWhileAway(() => client.json<BundleLink>(`${jobPath(jobId)}/bundle`, { method: 'POST' }));
}

const reconnectMs = 250;

/**
 * Yields a job at each of its changes until it has ended. A broken connection is reopened, and each state is yielded once. Rejects with `ApiFailure`
 * when the job does not exist, or the server cannot be reached for a minute.
 */
export async function* followJob(client: ApiClient, jobId: string): AsyncGenerator<ExportJob> {
  for (let revision = 0; ; await delay(reconnectMs)) {
    const response = await retryWhileAway(() =>
      client.raw(jobPath(jobId), { headers: { accept: 'text/event-stream' } }),
    );
    try {
      for await (const data of sseData(response)) {
        const job = JSON.parse(data) as ExportJob;
        if (job.revision <= revision) continue;
        revision = job.revision;
        yield job;
        if (job.status === 'completed' || job.status === 'failed') return;
      }
    } catch (error) {
      // A broken connection is reopened; a broken event is an error.
      if (error instanceof SyntaxError) throw error;
    }
  }
}

/** The download differs from the server's announcement, and no file with the wanted name is left. */
class DigestMismatch extends Error {
  override name = 'DigestMismatch';
}

/** Streams a bundle into `file` and hashes it. The file appears only if size and SHA-256 are right. `onBytes` is called with the number of bytes so far. */
export async function downloadBundle(
  link: Pick<BundleLink, 'bundleUrl' | 'sizeBytes' | 'sha256'>,
  file: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<void> {
  replaceFetch();
  const { origin } = new URL(link.bundleUrl);
  const response = await fetch(link.bundleUrl).catch((error: unknown) => {
    const hint = 'The job is completed: ask for a link where that address can be reached.';
    throw new Error(`The bundle cannot be downloaded from ${origin}: ${connectionProblem(error)}. ${hint}`, {
      cause: error,
    });
  });
  if (!response.ok || response.body === null)
    throw new Error(
      `${origin} answered ${response.status} for the link of the bundle. Request a new link and try again.`,
    );
  const hash = createHash('sha256');
  let bytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      onBytes(bytes);
      done(null, chunk);
    },
  });
  const unfinished = `${file}.part`;
  const interrupted = (_: string, signal: number): void => {
    rmSync(unfinished, { force: true });
    process.exit(128 + signal);
  };
  for (const signal of interruptions) process.once(signal, interrupted);
  try {
    await pipeline(Readable.fromWeb(response.body), meter, createWriteStream(unfinished));
    const sha256 = hash.digest('hex');
    if (bytes !== link.sizeBytes || sha256 !== link.sha256) {
      throw new DigestMismatch(
        `The download has ${bytes} bytes and SHA-256 ${sha256}, but the server announced ${link.sizeBytes} bytes and ${link.sha256}. Download it again.`,
      );
    }
    await rename(unfinished, file);
  } finally {
    for (const signal of interruptions) process.off(signal, interrupted);
    await rm(unfinished, { force: true });
  }
}

const interruptions = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Downloads a bundle and checks it against its manifest. */
export async function downloadVerified(
  link: BundleLink,
  file: string,
  onBytes?: (bytes: number) => void,
): Promise<BundleReport> {
  await downloadBundle(link, file, onBytes);
  const report = await verifyBundle(createReadStream(file));
  if (report.problems.length === 0) return report;
  throw new Error(`${file} does not match its manifest: ${report.problems.join('; ')}`);
}
