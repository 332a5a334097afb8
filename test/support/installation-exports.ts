import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, apiClient, jobPath, retryWhileAway } from '#services/cli/api-client.ts';
import { createFirstOrganization } from '#services/cli/commands/organizations.ts';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import type { PublishedContent } from '#shared/interfaces/http/content.ts';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { type ChainProblem, verifyChain } from '#shared/messaging/log/commit-chain.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { generatedProject } from './docs-projects.ts';
import type { TestInstallation } from './start-installation.ts';

const everyMs = 50;

/** Polls a job over the public interface until `wanted` accepts its status. Rejects when the job ends before. */
export async function whenJob(
  client: ApiClient,
  jobId: string,
  wanted: (job: ExportJob) => boolean,
): Promise<ExportJob> {
  for (;;) {
    const job = await retryWhileAway(() => client.json<ExportJob>(jobPath(jobId)));
    if (wanted(job)) return job;
    if (job.status === 'failed' || job.status === 'completed') {
      throw new Error(`The job ${jobId} ended before that: ${job.error ?? job.status}`);
    }
    await delay(everyMs);
  }
}

/** True while some of the job's pages are rendered and some are not. */
export const isUnderWay = ({ status, pageCount, pageTotal }: ExportJob): boolean =>
  status === 'running' && pageTotal !== undefined && pageCount > 0 && pageCount < pageTotal;

export type ExportHistory = {
  commits: ExportCommit[];
  /** Problems of the chain of hashes and sequences; empty when the history is complete. */
  problems: ChainProblem[];
};

/** All commits of a job in the log, oldest first. */
export async function exportHistory(
  { installation, organization }: Pick<TestInstallation, 'installation' | 'organization'>,
  jobId: string,
): Promise<ExportHistory> {
  const bus = await connectBus({
    url: installation.natsUrl,
    service: 'gateway',
    password: installation.secrets.natsPasswords.gateway ?? '',
    instance: 'history-reader',
  });
  try {
    const subject = exportLogSubject(organization, jobId);
    const stored: StoredCommit<ExportCommit>[] = [];
    for await (const one of bus.exports.history(subject)) stored.push(one);
    const problems = verifyChain(subject, await bus.exports.texts(subject));
    return { commits: stored.map(({ commit }) => commit), problems };
  } finally {
    await bus.close();
  }
}

export type Organization = { organization: string; domain: string; admin: ApiClient; adminKey: string };

/** Makes another enterprise organization, with a domain and a generated site of `pageCount` pages. */
export async function addOrganization(
  { installation }: Pick<TestInstallation, 'installation'>,
  siteName: string,
  pageCount: number,
): Promise<Organization> {
  const { baseUrl, secrets } = installation;
  const { organization, domain, adminKey } = await createFirstOrganization(baseUrl, secrets.operatorToken);
  const admin = apiClient(baseUrl, adminKey);
  await publishArchive({ admin, domain }, await generatedProject(siteName, pageCount));
  return { organization, domain, admin, adminKey };
}

/** Publishes a docs project that is already packed as a `.tar.gz`. */
export function publishArchive(
  { admin, domain }: Pick<Organization, 'admin' | 'domain'>,
  archive: Buffer<ArrayBuffer>,
): Promise<PublishedContent> {
  return admin.json<PublishedContent>(`/v1/domains/${domain}/content`, {
    method: 'PUT',
    headers: { 'content-type': 'application/gzip' },
    body: new Blob([archive]).stream(),
  });
}

/**
 * Removes all segments and bundles, so that the next export of the same content renders and joins everything again. Call it only while no job runs.
 */
export async function forgetSegments({ folder }: { folder: string }): Promise<void> {
  const stored = join(folder, 'objects', 'stored');
  for (const part of ['segments', 'bundles']) await rm(join(stored, part), { recursive: true, force: true });
}
