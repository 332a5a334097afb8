import { setTimeout as delay } from 'node:timers/promises';
import type { ContentState } from '#shared/aggregates/content/content.ts';
import { requestExport } from '#shared/aggregates/export-job/decide.ts';
import {
  exportJobAggregate,
  type ExportCommit,
  type ExportEventOf,
  isActive,
} from '#shared/aggregates/export-job/export-job.ts';
import {
  type ExportOutcome,
  followContent,
  type FollowedContent,
  reportDeployment,
  runningDeployments,
  settleDeployment,
  unreportedDeployments,
} from '#shared/aggregates/site/decide.ts';
import { type Deployment, siteAggregate, type SiteEvent, type SiteState } from '#shared/aggregates/site/site.ts';
import type { Commit } from '#shared/contracts/commit.ts';
import { readFindings } from '#shared/export/read-report.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { consume } from '#shared/messaging/queue/consume.ts';
import type { DurableReader } from '#shared/messaging/queue/durable-reader.ts';
import { contentLogSubject, exportLogSubject, siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { sha256OfJson } from '#shared/runtime/canonical-json.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { RetryPolicy } from '#shared/runtime/retry.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { type Clock, hourMs, type RandomDigits } from '#shared/runtime/time-and-ids.ts';

export type DeployerContext = {
  bus: Pick<BusOf<'deployer'>, 'exports' | 'content' | 'sites' | 'deployerReaders' | 'deadLetters' | 'deadLetterLog'>;
  clock: Clock;
  random: RandomDigits;
  objectStore: ObjectStore;
  logger: Logger;
  /** Address of the platform, which pages ask. */
  publicUrl: string;
};

const retry: RetryPolicy = { firstPauseMs: 500, longestPauseMs: 15_000 };
/** Number of commits that are handled concurrently. Commits of one domain may overlap, because the log guards each decision. */
const slots = 4;
const previewsEveryMs = hourMs;
const sitesAtOnce = 4;
const findingsWithinMs = 10_000;

/**
 * The work of the leading deployer, until `signal` aborts: follows contents, exports and sites, and decides what readers see. It holds no state of its
 * own. Each commit is handled with the newest state of its site, so repetition and order do not matter. Rejects when a reader cannot be opened.
 */
export async function deploy(context: DeployerContext, signal: AbortSignal): Promise<void> {
  const { bus } = context;
  const [content, exports, sites] = await Promise.all([
    bus.deployerReaders.content(),
    bus.deployerReaders.exports(),
    bus.deployerReaders.sites(),
  ]);
  const read = <C extends Commit>(stream: string, reader: DurableReader<C>, handle: (commit: C) => Promise<void>) =>
    consume<C>({
      ...{ service: 'deployer', stream, reader, retry, slots, stop: signal, logger: context.logger },
      ...{ deadLetters: bus.deadLetters, deadLetterLog: bus.deadLetterLog },
      handle,
    });
  await Promise.all([
    read('CONTENT', content, (commit) => follow(context, commit.data.state, commit, 'content')),
    read('SITES', sites, async (commit) => {
      const { organization, domain } = commit.data.state;
      const isOpened = commit.data.events.some(({ type }) => type === 'SiteOpened');
      if (isOpened) await follow(context, { organization, domain }, commit, 'opening');
      await requestExports(context, { organization, domain }, commit);
    }),
    read('EXPORTS', exports, (commit) => settle(context, commit)),
    endOldPreviews(context, signal),
  ]);
}

type SiteId = Pick<SiteState, 'organization' | 'domain'>;
type Cause = Pick<Commit, 'id' | 'correlationId' | 'traceparent'>;

/** Requests the deployments that follow from a domain's content. */
async function follow(
  context: DeployerContext,
  { organization, domain }: SiteId,
  cause: Cause & Pick<Commit, 'actor'>,
  of: 'content' | 'opening',
): Promise<void> {
  const { bus, clock } = context;
  const site = await bus.sites.last(siteLogSubject(organization, domain), { fromLeader: true });
  if (site?.commit.data.state.isOpen !== true) return;
  const content = await bus.content.last(contentLogSubject(organization, domain), { fromLeader: true });
  const followed = followedContent(content?.commit.data.state);
  // The newest content is deployed, which a later commit than the cause may have published.
  const askedBy = (of === 'content' ? content?.commit.actor : undefined) ?? cause.actor;
  const { events } = await decide(context, { organization, domain }, cause, (state) =>
    followContent(state, followed, clock.now(), askedBy),
  );
  if (events.length > 0) crashPoint('after-deployment-request', 'deployer');
}

function followedContent(content: ContentState | undefined): FollowedContent {
  if (content === undefined) return { latest: undefined, labels: {} };
  const publishedAt = new Map(content.versions.map((version) => [version.contentVersion, version.publishedAt]));
  const isThere = (contentVersion: string | undefined) =>
    contentVersion !== undefined && publishedAt.has(contentVersion);
  return {
    latest: isThere(content.latest) ? content.latest : undefined,
    labels: Object.fromEntries(
      Object.entries(content.labels).flatMap(([label, contentVersion]) => {
        const published = publishedAt.get(contentVersion);
        return published === undefined ? [] : [[label, { contentVersion, publishedAt: published }]];
      }),
    ),
  };
}

/**
 * Requests the exports of running deployments. If an export has already ended, its deployment is settled here, because the end may have been read
 * before the deployment.
 */
async function requestExports(context: DeployerContext, id: SiteId, cause: Cause): Promise<void> {
  const site = await context.bus.sites.last(siteLogSubject(id.organization, id.domain), { fromLeader: true });
  const state = site?.commit.data.state;
  if (state === undefined) return;
  for (const deployment of runningDeployments(state)) {
    const job = await requestOne(context, state, deployment, cause);
    if (job !== undefined) await settle(context, job);
  }
}

/** The newest commit of a deployment's export, which is requested if it does not exist. */
async function requestOne(
  { bus, clock, random, publicUrl }: DeployerContext,
  { organization, domain, organizationPlan, assistantKey }: SiteState,
  { jobId, contentVersion, label }: Deployment,
  { id, correlationId, traceparent }: Cause,
): Promise<ExportCommit | undefined> {
  const options: ExportEventOf<'ExportRequested'>['data']['options'] = {
    groups: [],
    deployment: 'cloud',
    onPageError: 'fail',
    // Sites share the host of their addresses, so no project's own scripts run there.
    allowTenantScripts: false,
    site: {
      serverUrl: publicUrl.replace(/\/+$/, ''),
      // These features are off in the bundle. The host turns them on for a site that passes questions on to the platform. Previews never have them,
      // because the platform answers from the latest content.
      ...(assistantKey === undefined || label !== undefined
        ? { features: { search: 'bundle', assistant: false } }
        : { assistantKey }),
    },
  };
  const request = { organization, domain, contentVersion, ...(label === undefined ? {} : { label }), options };
  const { events, stored } = await handleCommand({ log: bus.exports, clock, random }, exportJobAggregate, {
    subject: exportLogSubject(organization, jobId),
    decide: (state) =>
      // The settings of the site may have changed since the request. The job keeps those of its request.
      state === undefined
        ? requestExport(state, { ...request, jobId, organizationPlan, requestDigest: sha256OfJson(request) })
        : [],
    origin: { source: 'deployer', actor: deployer, causationId: id, correlationId, traceparent },
  });
  if (events.length > 0) crashPoint('after-export-request', 'deployer');
  return stored?.commit;
}

const deployer = { kind: 'service', id: 'deployer' } as const;

/**
 * Marks a deployment as live or failed when its export has ended. Afterwards it counts the findings of the export, so that readers do not wait for
 * the count.
 */
async function settle(context: DeployerContext, job: ExportCommit): Promise<void> {
  const { state } = job.data;
  const outcome = outcomeOf(job);
  if (outcome === undefined) return;
  const { organization, domain, jobId } = state;
  const site = await context.bus.sites.last(siteLogSubject(organization, domain), { fromLeader: true });
  const isAwaited =
    site !== undefined && runningDeployments(site.commit.data.state).some((each) => each.jobId === jobId);
  let settled = site?.commit.data.state;
  if (isAwaited) {
    crashPoint('before-settled', 'deployer');
    settled = (await decide(context, state, job, (current) => settleDeployment(current, jobId, outcome))).state;
    crashPoint('after-settled', 'deployer');
  }
  if (settled === undefined || unreportedDeployments(settled, jobId).length === 0) return;
  const findings = await findingsOf(context, job);
  if (findings !== undefined)
    await decide(context, state, job, (current) => reportDeployment(current, jobId, findings));
}

/** Numbers of findings of an export. Undefined if they cannot be read: then the deployment is shown without them. */
async function findingsOf({ objectStore, logger }: DeployerContext, { data: { state } }: ExportCommit) {
  try {
    return await readFindings(objectStore, state, AbortSignal.timeout(findingsWithinMs));
  } catch (error) {
    logger.warn({ err: error, jobId: state.jobId }, 'the findings of an export could not be read');
    return undefined;
  }
}

function outcomeOf({ data: { state } }: ExportCommit): ExportOutcome | undefined {
  if (isActive(state.phase)) return undefined;
  const { bundle, error } = state;
  if (state.phase === 'completed' && bundle !== undefined)
    return { sha256: bundle.sha256, sizeBytes: bundle.sizeBytes };
  return { error: error ?? 'The export was cancelled.' };
}

async function decide(
  { bus, clock, random, logger }: DeployerContext,
  { organization, domain }: SiteId,
  { id, correlationId, traceparent }: Cause,
  decideOn: (state: SiteState | undefined) => SiteEvent[],
): Promise<{ events: readonly SiteEvent[]; state: SiteState | undefined }> {
  const { events, stored } = await handleCommand({ log: bus.sites, clock, random }, siteAggregate, {
    subject: siteLogSubject(organization, domain),
    decide: decideOn,
    origin: { source: 'deployer', actor: deployer, causationId: id, correlationId, traceparent },
  });
  // Names of people stay in the log of the site.
  for (const event of events) logger.info({ ...event.data, askedBy: undefined }, lines[event.type]);
  return { events, state: stored?.commit.data.state };
}

const lines: Record<SiteEvent['type'], string> = {
  SiteOpened: 'a site was opened',
  DeploymentRequested: 'a deployment begins',
  DeploymentLive: 'a deployment is live',
  DeploymentReported: 'the report of a deployment is known',
  DeploymentFailed: 'a deployment failed; readers see the previous one',
  PreviewEnded: 'a preview ended',
  SiteClosed: 'a site was closed',
};

/**
 * Once an hour until `signal` aborts: ends previews whose label was not published for 30 days. A site that cannot be read does not stop the others.
 */
async function endOldPreviews(context: DeployerContext, signal: AbortSignal): Promise<void> {
  const { bus, random, logger } = context;
  while (!signal.aborted) {
    try {
      const subjects = await bus.sites.subjects(siteLogSubject('*', '*'));
      await inParallel(subjects, sitesAtOnce, async (subject) => {
        const [, organization = '', domain = ''] = subject.split('.');
        const cause = {
          ...{ id: `preview-end-${random(8)}`, correlationId: `preview-end-${random(8)}` },
          actor: deployer,
        };
        await follow(context, { organization, domain }, cause, 'content').catch((error: unknown) => {
          if (!signal.aborted)
            logger.warn({ err: error, organization, domain }, 'previews of a site could not be checked');
        });
      });
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, 'previews could not be checked; the next check is in an hour');
    }
    await delay(previewsEveryMs, undefined, { signal }).catch(() => {});
  }
}
