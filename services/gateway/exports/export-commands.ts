import { z } from 'zod';
import { type Admission, resolveDomain } from '#services/gateway/auth/admission.ts';
import type { RequestOrigin } from '#services/gateway/directory/append-to-directory.ts';
import type { ExportEventOf } from '#shared/aggregates/export-job/export-job.ts';
import type { StartExportBody } from '#shared/contracts/http/exports.ts';
import { type ExportSelection, selectionKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { ApiError } from '#shared/http/errors.ts';
import { nextCommit } from '#shared/messaging/commit-chain.ts';
import { ConcurrentAppend } from '#shared/messaging/event-log.ts';
import { contentLogSubject, exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { canonicalJson, sha256Of } from '#shared/runtime/canonical-json.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { askBus, writeWithinMs } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import { type JobView, readJobForDecision, viewOf } from './read-job.ts';
import {
  checkPaths,
  chooseContent,
  jobIdOfIdempotencyKey,
  newJobId,
  replayRequestDigest,
  requestedExport,
  sortedOnce,
  sortedPagePaths,
  startRequestDigest,
} from './requested-export.ts';

const putWithinMs = 10_000;

export type StartExport = {
  body: StartExportBody;
  idempotencyKey: string | undefined;
  admission: Admission;
  origin: RequestOrigin;
  /** Counts the request against the organization's limits; throws `rate_limited`. A repeated request is not counted. */
  count: () => Promise<void>;
};

/** Appends the request of an export and answers with its job. Throws the `ApiError` that its maker sees. */
export async function startExport(context: GatewayContext, pages: SitePages, request: StartExport): Promise<JobView> {
  const { body, admission, origin } = request;
  const { organization, organizationPlan } = admission;
  // 1. The same request under the same idempotency key is the job that there is.
  const domain = resolveDomain(admission.domains, body.domain).slug;
  const requestDigest = startRequestDigest(body, domain);
  const jobId =
    request.idempotencyKey === undefined
      ? newJobId(context.random)
      : jobIdOfIdempotencyKey(context.config.hashKey, organization, request.idempotencyKey);
  if (request.idempotencyKey !== undefined) {
    const existing = await jobOfSameRequest(context, { organization, jobId, requestDigest });
    if (existing !== undefined) return existing;
  }
  await request.count();
  // 2. Which content, and whether it has the pages that were asked for.
  const content = await askBus(context.bus.content.last(contentLogSubject(organization, domain), { fromLeader: true }));
  const contentVersion = chooseContent(domain, content?.commit.data.state, body.version);
  if (body.paths !== undefined) {
    const known = await pages(organization, domain, contentVersion);
    if (known === undefined)
      throw new ApiError('not_found', `The files of content version ${contentVersion} are gone. Publish again.`);
    checkPaths(body.paths, known, contentVersion);
  }
  // 3. The selection is stored before the commit that names it.
  const selection =
    body.paths === undefined ? undefined : await storeSelection(context, organization, sortedPagePaths(body.paths));
  return await appendExportRequest(
    context,
    {
      jobId,
      organization,
      organizationPlan,
      domain,
      contentVersion,
      ...(body.version === undefined ? {} : { label: body.version }),
      options: {
        ...(selection === undefined ? {} : { selectionKey: selection }),
        groups: sortedOnce(body.groups),
        deployment: body.deployment,
        onPageError: body.onPageError,
        // The bundle is the client's own site.
        allowTenantScripts: true,
      },
      requestDigest,
    },
    origin,
  );
}

async function storeSelection({ objectStore }: GatewayContext, organization: string, paths: string[]): Promise<string> {
  const text = canonicalJson({ version: 1, paths } satisfies ExportSelection);
  const key = selectionKey(organization, sha256Of(text));
  // Also when it is there: housekeeping goes by the age of what the log does not name yet.
  await objectStore.put(key, Buffer.from(text), {
    contentType: 'application/json',
    signal: AbortSignal.timeout(putWithinMs),
  });
  return key;
}

/** Starts a new job over the same content version and options as one that has ended. */
export async function replayExport(
  context: GatewayContext,
  request: {
    jobId: string;
    idempotencyKey: string | undefined;
    admission: Admission;
    origin: RequestOrigin;
    count: () => Promise<void>;
  },
): Promise<JobView> {
  const { organization, organizationPlan } = request.admission;
  const source = (await readJobForDecision(context, organization, request.jobId)).commit.data.state;
  const requestDigest = replayRequestDigest(source.jobId);
  const jobId =
    request.idempotencyKey === undefined
      ? newJobId(context.random)
      : jobIdOfIdempotencyKey(context.config.hashKey, organization, request.idempotencyKey);
  if (request.idempotencyKey !== undefined) {
    const existing = await jobOfSameRequest(context, { organization, jobId, requestDigest });
    if (existing !== undefined) return existing;
  }
  if (source.completedAt === undefined) {
    throw new ApiError('not_completed', `The job ${source.jobId} has not ended. Replay it when it has.`);
  }
  await request.count();
  const subject = contentLogSubject(organization, source.domain);
  const content = await askBus(context.bus.content.last(subject, { fromLeader: true }));
  const versions = content?.commit.data.state.versions ?? [];
  if (!versions.some(({ contentVersion }) => contentVersion === source.contentVersion)) {
    throw new ApiError(
      'not_found',
      `The content version ${source.contentVersion} that ${source.jobId} exported was deleted, so it cannot be replayed.`,
    );
  }
  const { domain, contentVersion, label, options } = source;
  return await appendExportRequest(
    context,
    {
      jobId,
      organization,
      organizationPlan,
      domain,
      contentVersion,
      ...(label === undefined ? {} : { label }),
      options,
      requestDigest,
      replayOf: source.jobId,
    },
    request.origin,
  );
}

/** Reports that the job should end; the orchestrator decides. Asking again is fine, also when the job has been cancelled. */
export async function cancelExport(
  context: Pick<GatewayContext, 'bus' | 'clock' | 'random'>,
  organization: string,
  jobId: string,
  origin: RequestOrigin,
): Promise<JobView> {
  const { commit } = await readJobForDecision(context, organization, jobId);
  const { phase } = commit.data.state;
  if (phase === 'completed' || phase === 'failed') {
    throw new ApiError('job_ended', `The job ${jobId} has ended (${phase}) and cannot be cancelled.`);
  }
  if (phase !== 'cancelled') {
    await askBus(
      context.bus.facts.record({
        type: 'CancelRequested',
        version: 1,
        id: `cr_${context.random(22)}`,
        source: 'gateway',
        time: context.clock.now().toISOString(),
        organization,
        jobId,
        traceparent: origin.traceparent,
        data: { actor: origin.actor },
      }),
      writeWithinMs,
    );
  }
  return viewOf(commit);
}

/** The first commit of a job. When it exists already, it must come from the same request. */
export async function appendExportRequest(
  context: Pick<GatewayContext, 'bus' | 'clock' | 'random'>,
  data: ExportEventOf<'ExportRequested'>['data'],
  origin: RequestOrigin,
): Promise<JobView> {
  const subject = exportLogSubject(data.organization, data.jobId);
  const event = { type: 'ExportRequested' as const, version: 1 as const, data };
  const time = context.clock.now();
  const commit = nextCommit(subject, undefined, [event], requestedExport(event, origin.actor.id, time.toISOString()), {
    id: `ec_${context.random(22)}`,
    source: 'gateway',
    actor: origin.actor,
    time,
    causationId: origin.requestId,
    correlationId: origin.requestId,
    traceparent: origin.traceparent,
  });
  try {
    await askBus(context.bus.exports.append(commit, { sequence: 0 }), writeWithinMs);
  } catch (error) {
    const existing = error instanceof ConcurrentAppend ? await jobOfSameRequest(context, data) : undefined;
    if (existing === undefined) throw error;
    return existing;
  }
  crashPoint('after-request-append', 'gateway');
  return viewOf(commit);
}

/** The job that an idempotency key already stands for, if any. Throws `idempotency_conflict` when it was another request. */
export async function jobOfSameRequest(
  { bus }: Pick<GatewayContext, 'bus'>,
  data: { organization: string; jobId: string; requestDigest: string },
): Promise<JobView | undefined> {
  const last = await askBus(bus.exports.last(exportLogSubject(data.organization, data.jobId), { fromLeader: true }));
  if (last === undefined) return undefined;
  if (last.commit.data.state.requestDigest !== data.requestDigest) throw new ApiError('idempotency_conflict');
  return viewOf(last.commit);
}

const mostKept = 20;
const withinMs = 10_000;

/** All that is needed of a site model here. */
const pagesSchema = z.object({ pages: z.array(z.object({ path: z.string() })) });

/** Page paths of a content version, or undefined when it is not stored. */
export type SitePages = (
  organization: string,
  domain: string,
  contentVersion: string,
) => Promise<ReadonlySet<string> | undefined>;

/** Reads page paths from the site model; a content version never changes, so the newest few are kept. */
export function sitePages(objectStore: Pick<ObjectStore, 'get'>): SitePages {
  const kept = new Map<string, ReadonlySet<string>>();
  return async (organization, domain, contentVersion) => {
    const key = siteModelKey(organization, domain, contentVersion);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const bytes = await objectStore.get(key, { signal: AbortSignal.timeout(withinMs) });
    if (bytes === undefined) return undefined;
    const model = pagesSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    const paths = new Set(model.pages.map((page) => page.path));
    const oldest = kept.keys().next();
    if (kept.size >= mostKept && !oldest.done) kept.delete(oldest.value);
    kept.set(key, paths);
    return paths;
  };
}
