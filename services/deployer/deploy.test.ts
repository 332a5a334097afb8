import { expect, onTestFinished, test } from 'vitest';
import type { ContentCommit, ContentEvent } from '#shared/aggregates/content/content.ts';
import { openSite, type SiteSettings } from '#shared/aggregates/site/decide.ts';
import { siteAggregate } from '#shared/aggregates/site/site.ts';
import { exportJobAggregate, type ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { contentLogSubject, exportLogSubject, siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { contentCommit } from '../../test/support/make-commit.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { storeReportedBundle } from '../../test/support/store-reported-bundle.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import { testLogger } from '../../test/support/test-logger.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { deploy } from './deploy.ts';

const organization = 'acme';
const origin = {
  source: 'test',
  actor: { kind: 'operator' as const, id: 'operator' },
  causationId: 'c',
  correlationId: 'c',
};
/** The day on which contents of tests are published. */
const clock = { now: () => new Date('2026-03-01T12:00:00.000Z') };
const version = (digit: string) => `cv_${digit.repeat(32)}`;

/** A running deployer on a bus in memory, with the publications, commands and exports around it. */
function deploying() {
  const bus = memoryBus();
  const stop = new AbortController();
  const objectStore = testObjectStore(newFolder());
  const context = { bus, clock, objectStore, random: randomBase62, logger: testLogger, publicUrl: 'http://docs.test/' };
  const start = () => deploy(context, stop.signal);
  const others = [start()];
  onTestFinished(async () => {
    stop.abort();
    await Promise.all(others);
  });
  const contents = new Map<string, StoredCommit<ContentCommit>>();
  return {
    bus,
    objectStore,
    publish: async (domain: string, contentVersion: string, label?: string) => {
      const data = { organization, domain, contentVersion, pageCount: 1, fileCount: 1, sizeBytes: 1 };
      const event: ContentEvent = { type: 'ContentPublished', version: 1, data: { ...data, ...(label && { label }) } };
      const last = contents.get(domain);
      contents.set(domain, await bus.content.append(contentCommit(event, last), { sequence: last?.sequence ?? 0 }));
    },
    open: (domain: string, previews = false, changes: Partial<SiteSettings> = {}) =>
      handleCommand({ log: bus.sites, clock: systemClock, random: randomBase62 }, siteAggregate, {
        subject: siteLogSubject(organization, domain),
        decide: (state) =>
          openSite(
            state,
            { organization, domain },
            { name: domain, hosts: [], previews, organizationPlan: 'pro', ...changes },
          ),
        origin,
      }),
    end: async (jobId: string, event: ExportEvent) => {
      await handleCommand({ log: bus.exports, clock: systemClock, random: randomBase62 }, exportJobAggregate, {
        subject: exportLogSubject(organization, jobId),
        decide: () => [event],
        origin,
      });
    },
    state: async (domain: string) => (await bus.sites.last(siteLogSubject(organization, domain)))?.commit.data.state,
    running: async (domain: string) => {
      const last = await bus.sites.last(siteLogSubject(organization, domain));
      return last?.commit.data.state.deployments.find(({ status }) => status === 'running');
    },
    job: async (jobId: string) => (await bus.exports.last(exportLogSubject(organization, jobId)))?.commit.data.state,
    again: () => void others.push(start()),
  };
}

const completed: ExportEvent = {
  type: 'ExportCompleted',
  version: 1,
  data: { bundleKey: 'bundles/acme/x', sizeBytes: 10, sha256: 'a'.repeat(64), manifestSha256: 'b'.repeat(64) },
};

test('a publication of a domain with a site is exported and goes live; one without a site is not exported', async () => {
  const { publish, open, running, job, end, state, bus } = deploying();
  await publish('docs', version('1'));
  await publish('other', version('1'));
  await open('docs');
  const deployment = await waitUntil(() => running('docs'));
  const requested = await waitUntil(() => job(deployment.jobId));
  expect(requested).toMatchObject({
    contentVersion: version('1'),
    organizationPlan: 'pro',
    options: { deployment: 'cloud', allowTenantScripts: false, site: { serverUrl: 'http://docs.test' } },
  });
  await end(deployment.jobId, completed);
  await waitUntil(async () => (await state('docs'))?.deployments[0]?.status === 'live');
  expect(await bus.sites.last(siteLogSubject(organization, 'other'))).toBeUndefined();
  // The person who opened the site has asked for the first deployment, and the one who published for the second.
  await publish('docs', version('2'));
  await waitUntil(async () => (await state('docs'))?.deployments.length === 2);
  const asked: unknown[] = [];
  for await (const { commit } of bus.sites.history(siteLogSubject(organization, 'docs')))
    for (const { type, data } of commit.data.events) if (type === 'DeploymentRequested') asked.push(data.askedBy);
  const published = (await bus.content.last(contentLogSubject(organization, 'docs')))?.commit.actor;
  expect(published).not.toEqual(origin.actor);
  expect(asked).toEqual([origin.actor, published]);
});

test('the findings of an export are shown with its deployment once it is live, and nothing is missing without a report', async () => {
  const { publish, open, running, job, end, state, objectStore } = deploying();
  await publish('docs', version('1'));
  await open('docs');
  const first = await waitUntil(() => running('docs'));
  await waitUntil(() => job(first.jobId));
  const { bundle, planHash, manifestSha256 } = await storeReportedBundle(objectStore);
  const plan = { planHash, rendererVersion: `rv_${'1'.repeat(16)}`, chunkCount: 1, pageTotal: 1 };
  await end(first.jobId, { type: 'PagesPlanned', version: 1, data: plan });
  const { key: bundleKey, sizeBytes, sha256 } = bundle;
  const made: ExportEvent = {
    type: 'ExportCompleted',
    version: 1,
    data: { bundleKey, sizeBytes, sha256, manifestSha256 },
  };
  await end(first.jobId, made);
  const reported = await waitUntil(async () => {
    const deployment = (await state('docs'))?.deployments[0];
    return deployment?.findings === undefined ? undefined : deployment;
  });
  expect(reported).toMatchObject({ status: 'live', findings: { errors: 0, warnings: 1 } });

  await publish('docs', version('2'));
  const second = await waitUntil(() => running('docs'));
  await waitUntil(() => job(second.jobId));
  await end(second.jobId, completed);
  await waitUntil(async () => (await state('docs'))?.deployments[1]?.status === 'live');
  expect((await state('docs'))?.deployments[1]).not.toHaveProperty('findings');
});

test('a failed export fails its deployment with the reason of the export, and the next publication is exported', async () => {
  const { publish, open, running, job, end, state } = deploying();
  await open('docs');
  await publish('docs', version('1'));
  const first = await waitUntil(() => running('docs'));
  await waitUntil(() => job(first.jobId));
  await publish('docs', version('2'));
  await waitUntil(async () => (await state('docs'))?.deployments.length === 2);
  const error = 'One page could not be rendered: x.';
  await end(first.jobId, { type: 'ExportFailed', version: 1, data: { error, failedPageCount: 1 } });
  const second = await waitUntil(async () => {
    const next = await running('docs');
    return next?.number === 2 ? next : undefined;
  });
  await waitUntil(() => job(second.jobId));
  expect((await state('docs'))?.deployments[0]).toMatchObject({ status: 'failed', error });
});

test('a preview is exported with its own search, also where pages of the live site ask the platform directly', async () => {
  const { publish, open, job, state } = deploying();
  await open('docs', true, { assistantKey: 'svc_dsc_x' });
  await publish('docs', version('1'), 'pr-1');
  const sites = await waitUntil(async () => {
    const found = (await state('docs'))?.deployments ?? [];
    const jobs = await Promise.all(found.map(async ({ label, jobId }) => [label, (await job(jobId))?.options.site]));
    return found.length === 2 && jobs.every(([, site]) => site !== undefined) && jobs;
  });
  const serverUrl = 'http://docs.test';
  expect(Object.fromEntries(sites as [string | undefined, unknown][])).toEqual({
    undefined: { serverUrl, assistantKey: 'svc_dsc_x' },
    'pr-1': { serverUrl, features: { search: 'bundle', assistant: false } },
  });
});

test('a second deployer, and messages that come again, request nothing twice', async () => {
  const { publish, open, running, job, end, state, again, bus } = deploying();
  again();
  await open('docs', true);
  await publish('docs', version('1'), 'pr-1');
  await waitUntil(async () => (await state('docs'))?.deployments.length === 2);
  const deployment = await waitUntil(() => running('docs'));
  await waitUntil(() => job(deployment.jobId));
  for (let at = 0; at < 3; at += 1)
    bus.memoryReaders.deployerContent.push({
      subject: contentLogSubject(organization, 'docs'),
      sequence: 1,
      value: (await bus.content.last(contentLogSubject(organization, 'docs')))?.commit,
    });
  await end(deployment.jobId, completed);
  await waitUntil(async () => (await state('docs'))?.deployments[0]?.status === 'live');
  expect((await state('docs'))?.deployments).toHaveLength(2);
});
