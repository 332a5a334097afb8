import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, apiClient, retryWhileAway } from '#services/cli/api-client.ts';
import { createFirstOrganization } from '#services/cli/commands/organizations.ts';
import { downloadVerified, signBundleLink, startExport, waitForExport } from '#services/cli/export-client.ts';
import { publishProject, whenSearched } from '#services/cli/publish-project.ts';
import type { SearchAnswer } from '#shared/interfaces/http/assistant.ts';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { exportHistory, whenJob } from '../support/installation-exports.ts';
import { type Stack, startStack } from './start-stack.ts';

export type StackProject = { name: string; folder: string };
type Say = (line: string) => void;

/** A separate organization with one domain, where a project is published. */
type Site = { organization: string; domain: string; admin: ApiClient; reader: ApiClient };

/**
 * Starts the production set and lets it do its work on each project: publish, export, download from the S3 server, search on Elasticsearch. Then it
 * uses up a limit that Redis counts. Finally it exports `lastProject` while one NATS node, Redis, the S3 server and Elasticsearch are killed and
 * brought back, one after the other. Rejects at the first failed check, after stopping everything.
 */
export async function runStack(projects: readonly StackProject[], lastProject: StackProject, say: Say): Promise<void> {
  const startedAt = performance.now();
  say('Starting three NATS nodes, Redis, an S3 server, Elasticsearch, and each service as a process …');
  const stack = await startStack();
  const downloads = await mkdtemp(join(tmpdir(), 'bindery-stack-'));
  try {
    const { baseUrl } = stack.harness.installation;
    say(`ready after ${secondsSince(startedAt)} at ${baseUrl}`);
    for (const project of projects) {
      const site = await publishedSite(stack, project, say);
      const { jobId } = await startExport(site.admin, { domain: site.domain });
      const job = await waitForExport(site.admin, jobId, () => {});
      await checkBundle(stack, site, job, downloads, say);
      await checkSearch(stack, site, say);
    }
    await checkLimits(stack, say);
    const site = await publishedSite(stack, lastProject, say);
    const job = await exportThroughOutages(stack, site, say);
    await checkBundle(stack, site, job, downloads, say);
    await checkSearch(stack, site, say);
    say(`all checks passed after ${secondsSince(startedAt)}; stopping`);
  } finally {
    await stack.stop();
    await rm(downloads, { recursive: true, force: true });
  }
}

const secondsSince = (start: number): string => `${((performance.now() - start) / 1_000).toFixed(1)} s`;

async function publishedSite(stack: Stack, { name, folder }: StackProject, say: Say): Promise<Site> {
  const { baseUrl, secrets } = stack.harness.installation;
  const { organization, domain, adminKey, assistantKey } = await createFirstOrganization(
    baseUrl,
    secrets.operatorToken,
  );
  const site = { organization, domain, admin: apiClient(baseUrl, adminKey), reader: apiClient(baseUrl, assistantKey) };
  const startedAt = performance.now();
  const { pages, contentVersion } = await publishProject(site.admin, { domain, folder });
  say(`${name}: published ${pages} pages in ${secondsSince(startedAt)}`);
  await whenSearched(site.admin, domain, contentVersion);
  say(`  searched ${secondsSince(startedAt)} after the publication began`);
  return site;
}

/** Checks that the bundle's link leads to the S3 server, that the bundle matches its manifest, and that the log of the job is complete. */
async function checkBundle(stack: Stack, site: Site, job: ExportJob, folder: string, say: Say): Promise<void> {
  assert.equal(job.pageCount, job.pageTotal, 'an export is completed when each of its pages is there');
  const link = await signBundleLink(site.admin, job.jobId);
  assert.equal(new URL(link.bundleUrl).origin, stack.s3.endpoint, 'a link leads to the S3 server');
  const { files } = await downloadVerified(link, join(folder, 'site.tar.gz'));
  const { installation } = stack.harness;
  const { problems } = await exportHistory({ installation, organization: site.organization }, job.jobId);
  assert.deepEqual(problems, [], 'the log of an export is whole');
  say(`  exported ${job.pageCount} pages, downloaded from the S3 server: ${files} files as the manifest says`);
}

async function checkSearch(stack: Stack, { domain, reader }: Site, say: Say): Promise<void> {
  const json = { query: 'How do I get started?', pageSize: 5 };
  // Elasticsearch may just have restarted.
  const found = await retryWhileAway(() =>
    reader.json<SearchAnswer>(`/discovery/v1/search/${domain}`, { method: 'POST', json }),
  );
  assert.ok(found.length > 0, 'a search finds something');
  const counted = (await (await fetch(`${stack.elasticsearch.url}/_all/_count`)).json()) as { count: number };
  assert.ok(counted.count > 0, 'Elasticsearch has the passages');
  say(`  searched among ${counted.count} documents of Elasticsearch; first: ${found[0]?.metadata.title}`);
}

/** Default of `BINDERY_LIMIT_KEYS_PER_HOUR`; the organization's assistant key was the first. */
const keysPerHour = 10;

async function checkLimits({ harness, redis }: Stack, say: Say): Promise<void> {
  const statuses: number[] = [];
  for (let made = 1; made <= keysPerHour; made += 1) {
    const answer = await fetch(`${harness.installation.baseUrl}/v1/api-keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${harness.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'assistant', name: `key ${made}` }),
    });
    statuses.push(answer.status);
  }
  const wanted = Array.from({ length: keysPerHour }, (_, at) => (at < keysPerHour - 1 ? 201 : 429));
  assert.deepEqual(statuses, wanted, 'the limit of keys per hour refuses the next key');
  say(`limits: key ${keysPerHour + 1} of an hour was refused, as ${redis.url} counts`);
}

const outageMs = 3_000;

/** Each outage begins when this share of the pages is rendered and the previous outage has ended. */
async function outagesOf({ nats, redis, s3, elasticsearch }: Stack) {
  return [
    { name: 'the NATS node that leads the log', from: 0.1, server: await nats.leaderOf('EXPORTS') },
    { name: 'Redis', from: 0.3, server: redis },
    { name: 'the S3 server', from: 0.5, server: s3 },
    { name: 'Elasticsearch', from: 0.7, server: elasticsearch },
  ];
}

async function exportThroughOutages(stack: Stack, { admin, domain }: Site, say: Say): Promise<ExportJob> {
  const { jobId } = await startExport(admin, { domain });
  for (const { name, from, server } of await outagesOf(stack)) {
    const { pageCount, pageTotal } = await whenJob(
      admin,
      jobId,
      (job) => job.pageTotal !== undefined && job.pageCount >= from * job.pageTotal,
    );
    await server.kill();
    // The outage is under test: it has a fixed length and waits for nothing.
    await delay(outageMs);
    await server.restart();
    say(`  killed ${name} with ${pageCount} of ${pageTotal} pages rendered, and brought it back`);
  }
  return await waitForExport(admin, jobId, () => {});
}
