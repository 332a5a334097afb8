import { hasEnded, isKnown } from '#shared/aggregates/content/decide.ts';
import { requestExport } from '#shared/aggregates/export-job/decide.ts';
import {
  exportJobAggregate,
  type ExportEventOf,
  type ExportJobState,
} from '#shared/aggregates/export-job/export-job.ts';
import type { StartExportBody } from '#shared/interfaces/http/exports.ts';
import { type ExportSelection, selectionKey, type SiteOptions } from '#shared/contracts/stored-objects.ts';
import { parseApiKey } from '#shared/http/api-key.ts';
import { ApiError } from '#shared/http/errors.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { contentLogSubject, exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { canonicalJson, sha256Of } from '#shared/runtime/canonical-json.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { storeWithin } from '#shared/storage/object-store.ts';
import { askBus, askedLog, writeWithinMs } from '../ask-bus.ts';
import { commandOrigin, requestBehind, type RequestOrigin } from '../audit/request-behind.ts';
import { keyRefusal, type Principal, resolveDomain } from '../auth/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { leavePlace, takePlace } from './export-places.ts';
import { type JobView, readJobForDecision, viewOf } from './read-job.ts';
import {
  checkFeatures,
  checkGroupsExist,
  checkPagesExist,
  jobIdOfIdempotencyKey,
  newJobId,
  replayRequestDigest,
  requestedExport,
  resolveContentVersion,
  startRequestDigest,
} from './requested-export.ts';

const putWithinMs = 10_000;

type ExportRequest = {
  idempotencyKey: string | undefined;
  principal: Principal;
  origin: RequestOrigin;
  /** Counts the request against the organization's limits; throws `rate_limited`. A repeated request is not counted. */
  count: () => Promise<void>;
};

/** Appends the request of an export and returns its job. Throws the `ApiError` that the client sees. */
export async function startExport(
  context: GatewayContext,
  request: ExportRequest & { body: StartExportBody },
): Promise<JobView> {
  const { body, principal } = request;
  const { organization, organizationPlan } = principal;
  checkFeatures(body);
  // 1. The same request under the same idempotency key returns the existing job.
  const domain = resolveDomain(principal.domains, body.domain).slug;
  const requested = requestedExport(body);
  const requestDigest = startRequestDigest(requested, domain);
  const { jobId, existing } = await jobOfRequest(context, request, requestDigest);
  if (existing !== undefined) return existing;
  return await inPlace(context, request, jobId, async () => {
    // 2. The content version is resolved, and must have the requested pages and groups.
    const contentVersion = resolveContentVersion(
      domain,
      await contentState(context, organization, domain),
      body.version,
    );
    if (body.paths !== undefined || body.groups.length > 0) {
      const known = await context.sitePages({ organization, domain, contentVersion });
      if (known === undefined)
        throw new ApiError('not_found', `The files of content version ${contentVersion} are missing. Publish again.`);
      checkPagesExist(body.paths ?? [], known.paths, contentVersion);
      checkGroupsExist(body.groups, known.groups, contentVersion);
    }
    const site = await siteOptions(context, request);
    // 3. The selection is stored before the commit that names it.
    const { paths, groups, deployment, onPageError, allowTenantScripts = true } = requested;
    const selection = paths === undefined ? undefined : await storeSelection(context, organization, paths);
    return await appendExportRequest(context, request.origin, {
      jobId,
      organization,
      organizationPlan,
      domain,
      contentVersion,
      ...(body.version === undefined ? {} : { label: body.version }),
      options: {
        ...(selection === undefined ? {} : { selectionKey: selection }),
        groups,
        deployment,
        onPageError,
        allowTenantScripts,
        ...(site === undefined ? {} : { site }),
      },
      requestDigest,
    });
  });
}

/** Starts a new job over the same content version and options as one that has ended. */
export async function replayExport(
  context: GatewayContext,
  request: ExportRequest & { jobId: string },
): Promise<JobView> {
  const { organization, organizationPlan } = request.principal;
  const source = (await readJobForDecision(context, organization, request.jobId)).commit.data.state;
  const requestDigest = replayRequestDigest(source.jobId);
  const { jobId, existing } = await jobOfRequest(context, request, requestDigest);
  if (existing !== undefined) return existing;
  if (source.completedAt === undefined) {
    throw new ApiError('not_completed', `The job ${source.jobId} has not ended. Replay it when it has.`);
  }
  return await inPlace(context, request, jobId, async () => {
    const { domain, contentVersion, label, options } = source;
    const state = await contentState(context, organization, domain);
    // The files of an ended version stay in the store while a job that exported it is kept.
    const isEnded = hasEnded(state, contentVersion);
    const content = { organization, domain, contentVersion };
    const isThere = isEnded ? (await context.sitePages(content)) !== undefined : isKnown(state, contentVersion);
    if (!isThere) {
      throw new ApiError(
        'not_found',
        `The content version ${contentVersion} that ${source.jobId} exported was ${isEnded ? 'removed after its retention' : 'deleted'}, so it cannot be replayed.`,
      );
    }
    return await appendExportRequest(context, request.origin, {
      jobId,
      organization,
      organizationPlan,
      domain,
      contentVersion,
      ...(label === undefined ? {} : { label }),
      options,
      requestDigest,
      replayOf: source.jobId,
    });
  });
}

/** Reports that the job should be cancelled; the orchestrator decides. A client may repeat the request, also after the cancellation. */
export async function cancelExport(
  context: Pick<GatewayContext, 'bus' | 'clock' | 'random' | 'config'>,
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
        data: { actor: origin.actor, request: requestBehind(context.config, organization, origin) },
      }),
      writeWithinMs,
    );
  }
  return viewOf(commit);
}

/** Takes a place among the active jobs, counts the request, and runs `store`, which stores the new job. Throws `rate_limited`, and errors of `store`. */
async function inPlace(
  context: GatewayContext,
  { principal, count }: ExportRequest,
  jobId: string,
  store: () => Promise<JobView>,
): Promise<JobView> {
  const isOurs = await takePlace(context, principal, jobId);
  try {
    await count();
    return await store();
  } catch (error) {
    // After other errors the job may be in the log.
    const isRefused =
      error instanceof ApiError && error.code !== 'unavailable' && error.code !== 'idempotency_conflict';
    // If this fails, the place expires within a minute.
    if (isOurs && isRefused) await leavePlace(context, principal.organization, jobId).catch(() => {});
    throw error;
  }
}

/** The job's options for `_bindery/config.js`. An air-gapped site gets no server. Throws `invalid_request` for an invalid key. */
async function siteOptions(
  context: GatewayContext,
  { body: { deployment, assistantKey, features }, principal }: ExportRequest & { body: StartExportBody },
): Promise<SiteOptions | undefined> {
  if (assistantKey !== undefined) await checkAssistantKey(context, principal.organization, assistantKey);
  const chosen = features === undefined || Object.keys(features).length === 0 ? {} : { features };
  if (deployment === 'air-gapped') return 'features' in chosen ? chosen : undefined;
  return {
    serverUrl: context.config.publicUrl.replace(/\/+$/, ''),
    ...(assistantKey === undefined ? {} : { assistantKey }),
    ...chosen,
  };
}

/**
 * Throws `invalid_request` unless the text is a valid assistant key of the organization that pages may show. The message never contains the key, which
 * may be a secret one.
 */
export async function checkAssistantKey(
  { keys, clock }: Pick<GatewayContext, 'keys' | 'clock'>,
  organization: string,
  text: string,
): Promise<void> {
  const refused = (sentence: string) =>
    new ApiError('invalid_request', sentence, { fields: [{ path: 'assistantKey', message: sentence }] });
  const parsed = parseApiKey(text);
  if (parsed?.kind === 'admin')
    throw refused(
      'The field "assistantKey" is an admin key, which is secret. Name an assistant key (svc_dsc_…), which pages may show.',
    );
  const found = parsed && (await keys.find(parsed.sha256));
  if (found?.organization === organization && found.key.scopes.includes('proxy'))
    throw refused(
      'The field "assistantKey" has the scope "proxy", which is for servers: anybody who knows such a key may ask as any reader. Name a key without it, because pages show the key.',
    );
  // Readers use the key from other addresses than the client that starts the export.
  const document = found?.organization === organization && { ...found, key: { ...found.key, allowedAddresses: [] } };
  const need = { kinds: ['assistant'], scope: 'read' } as const;
  if (!document || keyRefusal(document, need, { now: clock.now(), address: '' }) !== undefined)
    throw refused(
      'The field "assistantKey" is not an assistant key of this organization, or it was revoked. Create one with POST /v1/api-keys.',
    );
}

async function contentState({ bus }: GatewayContext, organization: string, domain: string) {
  const last = await askBus(bus.content.last(contentLogSubject(organization, domain), { fromLeader: true }));
  return last?.commit.data.state;
}

async function storeSelection({ objectStore }: GatewayContext, organization: string, paths: string[]): Promise<string> {
  const text = canonicalJson({ version: 1, paths } satisfies ExportSelection);
  const key = selectionKey(organization, sha256Of(text));
  // The selection is stored even if it exists already, because garbage collection goes by the age of objects that the log does not name yet.
  await objectStore.put(key, Buffer.from(text), {
    contentType: 'application/json',
    signal: storeWithin(putWithinMs),
  });
  return key;
}

/** The job id of a request, and the job if its idempotency key was used before. Throws `idempotency_conflict`. */
async function jobOfRequest(
  context: GatewayContext,
  { principal: { organization }, idempotencyKey }: ExportRequest,
  requestDigest: string,
): Promise<{ jobId: string; existing: JobView | undefined }> {
  if (idempotencyKey === undefined) return { jobId: newJobId(context.random), existing: undefined };
  const jobId = jobIdOfIdempotencyKey(context.config.hashKey, organization, idempotencyKey);
  const last = await askBus(context.bus.exports.last(exportLogSubject(organization, jobId), { fromLeader: true }));
  if (last === undefined) return { jobId, existing: undefined };
  checkSameRequest(last.commit.data.state, requestDigest);
  return { jobId, existing: viewOf(last.commit) };
}

function checkSameRequest(state: { requestDigest: string }, requestDigest: string): void {
  if (state.requestDigest !== requestDigest) throw new ApiError('idempotency_conflict');
}

/** Appends the first commit of a job. If it exists already, it must come from the same request. */
async function appendExportRequest(
  { bus, clock, random, config }: GatewayContext,
  origin: RequestOrigin,
  data: ExportEventOf<'ExportRequested'>['data'],
): Promise<JobView> {
  const command = {
    subject: exportLogSubject(data.organization, data.jobId),
    decide: (state: ExportJobState | undefined) => requestExport(state, data),
    origin: commandOrigin(config, data.organization, origin),
    known: { stored: undefined },
  };
  const log = askedLog(bus.exports);
  const { events, stored } = await handleCommand({ log, clock, random }, exportJobAggregate, command);
  if (stored === undefined) throw new Error(`the request of ${data.jobId} was not appended`);
  if (events.length > 0) crashPoint('after-request-append', 'gateway');
  return viewOf(stored.commit);
}
