import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { admissionOf, admitByKey, resolveDomain, traceparentOf } from '#services/gateway/auth/admission.ts';
import type { RequestOrigin } from '#services/gateway/directory/append-to-directory.ts';
import {
  type HistoryEntry,
  idempotencyKeySchema,
  listExportsQuerySchema,
  startExportBodySchema,
  toHistoryEntries,
} from '#shared/contracts/http/exports.ts';
import { linkSigner } from '#shared/contracts/internal/link-signer.ts';
import { disconnectSignal } from '#shared/http/client-connection.ts';
import { ApiError } from '#shared/http/errors.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { busHistory } from '../ask-bus.ts';
import { askService } from '../ask-service.ts';
import type { GatewayContext } from '../context.ts';
import { countRequest, hourSeconds } from '../count-request.ts';
import { accepts, parseInput } from '../parse-input.ts';
import { cancelExport, replayExport, sitePages, startExport } from './export-commands.ts';
import { countActiveJobs, listJobs } from './list-jobs.ts';
import { liveJob } from './live-job.ts';
import { jobAt, type JobView, parsePoint, readJob, shownJob } from './read-job.ts';

const jobs = '/v1/static-export/jobs';
const activeJobsRetrySeconds = 30;

type JobParams = { Params: { jobId: string }; Querystring: { at?: unknown } };

/** The export: jobs from request to download link. */
export async function exportRoutes(app: FastifyInstance, context: GatewayContext): Promise<void> {
  app.addHook('onRequest', admitByKey(context, { kinds: ['admin'], scope: 'method' }));
  const pages = sitePages(context.objectStore);

  app.post(jobs, async (request, reply) => {
    requirePlan(request);
    const view = await startExport(context, pages, {
      body: parseInput(startExportBodySchema, request.body),
      idempotencyKey: idempotencyKeyOf(request),
      admission: admissionOf(request),
      origin: originOf(request),
      count: () => countStart(context, request, reply),
    });
    return accepted(reply, view);
  });

  app.get(jobs, async (request) => {
    const { organization, domains } = admissionOf(request);
    const query = parseInput(listExportsQuerySchema, request.query, 'query');
    const domain = query.domain === undefined ? undefined : resolveDomain(domains, query.domain).slug;
    return await listJobs(context, organization, { ...query, domain });
  });

  app.get<JobParams>(`${jobs}/:jobId`, async (request, reply) => {
    const { organization } = admissionOf(request);
    const view = await readJob(context, organization, request.params.jobId);
    if (request.query.at !== undefined) {
      const history = busHistory(context.bus.exports, exportLogSubject(organization, view.state.jobId));
      return shownJob(await jobAt(history, parsePoint(request.query.at)));
    }
    if (!accepts(request, 'text/event-stream')) return shownJob(view);
    const signal = AbortSignal.any([disconnectSignal(reply.raw), context.stopping]);
    return reply
      .headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
      .send(Readable.from(liveJob(context, organization, view, signal)));
  });

  app.get<JobParams>(`${jobs}/:jobId/events`, async (request, reply) => {
    const { organization } = admissionOf(request);
    const { jobId } = (await readJob(context, organization, request.params.jobId)).state;
    const entries = historyEntries(context, organization, jobId);
    if (accepts(request, 'application/x-ndjson')) {
      return reply.type('application/x-ndjson').send(Readable.from(asLines(entries)));
    }
    const events: HistoryEntry[] = [];
    for await (const entry of entries) events.push(entry);
    return { jobId, events };
  });

  // These take no body; whatever a client's defaults send along is not looked at.
  await app.register(async (bodiless) => {
    bodiless.removeAllContentTypeParsers();
    bodiless.addContentTypeParser('*', { parseAs: 'buffer' }, async () => undefined);

    bodiless.post<JobParams>(`${jobs}/:jobId/cancel`, async (request, reply) => {
      const { organization } = admissionOf(request);
      return accepted(reply, await cancelExport(context, organization, request.params.jobId, originOf(request)));
    });

    bodiless.post<JobParams>(`${jobs}/:jobId/replay`, async (request, reply) => {
      requirePlan(request);
      const view = await replayExport(context, {
        jobId: request.params.jobId,
        idempotencyKey: idempotencyKeyOf(request),
        admission: admissionOf(request),
        origin: originOf(request),
        count: () => countStart(context, request, reply),
      });
      return accepted(reply, view);
    });

    bodiless.post<JobParams>(`${jobs}/:jobId/bundle`, async (request, reply) => {
      const { organization, organizationPlan, domains } = admissionOf(request);
      const { state } = await readJob(context, organization, request.params.jobId);
      const limit = {
        name: 'links',
        requests: context.config.linksPerHour[organizationPlan],
        windowSeconds: hourSeconds,
      };
      await countRequest(context, reply, [{ limit, key: organization }]);
      const domain = resolveDomain(domains, state.domain);
      const from = { request, reply, domain };
      return await (await askService(context, from, linkSigner.signLink, { body: { jobId: state.jobId } })).json();
    });
  });
}

function accepted(reply: FastifyReply, view: JobView): FastifyReply {
  return reply.code(202).header('location', `${jobs}/${view.state.jobId}`).send(shownJob(view));
}

function requirePlan(request: FastifyRequest): void {
  const { organizationPlan } = admissionOf(request);
  if (organizationPlan === 'enterprise') return;
  throw new ApiError(
    'plan_required',
    `Static export needs the enterprise plan; this organization has "${organizationPlan}".`,
  );
}

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  return header === undefined ? undefined : parseInput(idempotencyKeySchema, header, 'Idempotency-Key');
}

async function countStart(context: GatewayContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { organization, organizationPlan } = admissionOf(request);
  const { startsPerHour, activeJobs } = context.config;
  const active = await countActiveJobs(context, organization);
  if (active >= activeJobs[organizationPlan]) {
    throw new ApiError(
      'rate_limited',
      `${active} exports of this organization are queued or running, and ${activeJobs[organizationPlan]} may be. Wait for one to end, or cancel one.`,
      { retryAfterSeconds: activeJobsRetrySeconds },
    );
  }
  const limit = { name: 'starts', requests: startsPerHour[organizationPlan], windowSeconds: hourSeconds };
  await countRequest(context, reply, [{ limit, key: organization }]);
}

async function* historyEntries(
  context: GatewayContext,
  organization: string,
  jobId: string,
): AsyncIterable<HistoryEntry> {
  for await (const { commit } of busHistory(context.bus.exports, exportLogSubject(organization, jobId))) {
    yield* toHistoryEntries(commit);
  }
}

async function* asLines(entries: AsyncIterable<HistoryEntry>): AsyncIterable<string> {
  for await (const entry of entries) yield `${JSON.stringify(entry)}\n`;
}

function originOf(request: FastifyRequest): RequestOrigin {
  return { actor: admissionOf(request).actor, requestId: request.id, traceparent: traceparentOf(request) };
}
