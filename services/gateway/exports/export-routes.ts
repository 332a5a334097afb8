import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import {
  bundleLinkSchema,
  exportHistorySchema,
  exportJobSchema,
  exportListSchema,
  exportReportQuerySchema,
  exportReportSchema,
  type HistoryEntry,
  historyEntrySchema,
  idempotencyKeySchema,
  listExportsQuerySchema,
  startExportBodySchema,
  toHistoryEntries,
} from '#shared/interfaces/http/exports.ts';
import { jobId } from '#shared/contracts/identifiers.ts';
import { linkSigner } from '#shared/interfaces/internal/link-signer.ts';
import { disconnectSignal } from '#shared/http/client-connection.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { busHistory } from '../ask-bus.ts';
import { resolveDomain } from '../auth/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { accepts } from '../parse-input.ts';
import { publicRoute } from '../public-route.ts';
import { changes, perHour } from '../rate-limits.ts';
import { cancelExport, replayExport, startExport } from './export-commands.ts';
import { jobEventStream } from './job-event-stream.ts';
import { listJobs } from './list-jobs.ts';
import { exportJobOf, jobAt, type JobView, parsePoint, readJob } from './read-job.ts';

const jobs = '/v1/static-export/jobs';
const job = `${jobs}/:jobId` as const;
const params = z.object({ jobId: jobId.meta({ title: 'export job' }) });
const headers = z.object({ 'Idempotency-Key': idempotencyKeySchema.optional() });
const starts = perHour('starts', 'startsPerHour');
const ndjson = 'application/x-ndjson';
const answerHeaders = { Location: 'Path of the job.' };

/** The export: jobs from request to download link. */
export const exportRoutes = [
  publicRoute(
    {
      id: 'startExport',
      method: 'POST',
      path: jobs,
      summary: 'Starts an export. A repeated request with the same Idempotency-Key and body returns the same job.',
      key: 'admin',
      forExports: true,
      plan: 'enterprise',
      headers,
      body: startExportBodySchema,
      limits: [starts],
      countsLater: true,
      status: 202,
      answer: exportJobSchema,
      answerHeaders,
      errors: ['not_found', 'idempotency_conflict'],
    },
    async (context, { principal, body, headers, origin, count, reply }) => {
      const view = await startExport(context, {
        body,
        idempotencyKey: headers['Idempotency-Key'],
        principal,
        origin,
        count,
      });
      return accepted(reply, view);
    },
  ),
  publicRoute(
    {
      id: 'listExports',
      method: 'GET',
      path: jobs,
      summary: "Lists the organization's exports, newest first.",
      key: 'admin',
      forExports: true,
      query: listExportsQuerySchema,
      answer: exportListSchema,
      errors: ['not_found'],
    },
    async (context, { principal: { organization, domains }, query }) => {
      const domain = query.domain === undefined ? undefined : resolveDomain(domains, query.domain).slug;
      return await listJobs(context, organization, { ...query, domain });
    },
  ),
  publicRoute(
    {
      id: 'getExport',
      method: 'GET',
      path: job,
      summary: 'Returns the status of an export: the current one, or that at a revision or time of its history.',
      key: 'admin',
      forExports: true,
      params,
      query: z.strictObject({ at: z.string().optional() }),
      answer: exportJobSchema,
      alsoAs: {
        'text/event-stream': {
          description: 'The current job, and the job at every change until it ends.',
          item: exportJobSchema,
        },
      },
    },
    async (context, { principal: { organization }, params, query, request, reply }) => {
      const view = await readJob(context, organization, params.jobId);
      if (query.at !== undefined) {
        const history = busHistory(context.bus.exports, exportLogSubject(organization, view.state.jobId));
        return exportJobOf(await jobAt(history, parsePoint(query.at)));
      }
      if (!accepts(request, 'text/event-stream')) return exportJobOf(view);
      const signal = AbortSignal.any([disconnectSignal(reply.raw), context.stopping]);
      // The answer to HEAD has no body, so its client never disconnects from the stream.
      const events = request.method === 'HEAD' ? [] : jobEventStream(context, organization, view, signal);
      return reply
        .headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
        .send(Readable.from(events));
    },
  ),
  publicRoute(
    {
      id: 'listExportEvents',
      method: 'GET',
      path: `${job}/events`,
      summary: 'Returns the history of an export, oldest event first.',
      key: 'admin',
      forExports: true,
      params,
      answer: exportHistorySchema,
      alsoAs: { [ndjson]: { description: 'One event per line.', item: historyEntrySchema } },
    },
    async (context, { principal: { organization }, params, request, reply }) => {
      const { jobId } = (await readJob(context, organization, params.jobId)).state;
      const entries = historyEntries(context, organization, jobId);
      if (accepts(request, ndjson)) return reply.type(ndjson).send(Readable.from(asLines(entries)));
      const events: HistoryEntry[] = [];
      for await (const entry of entries) events.push(entry);
      return { jobId, events };
    },
  ),
  publicRoute(
    {
      id: 'cancelExport',
      method: 'POST',
      path: `${job}/cancel`,
      summary: 'Cancels an export. A repeated request has the same answer, unless the export ended in another way.',
      key: 'admin',
      forExports: true,
      params,
      limits: [changes],
      status: 202,
      answer: exportJobSchema,
      answerHeaders,
      errors: ['job_ended'],
    },
    async (context, { principal: { organization }, params, origin, reply }) =>
      accepted(reply, await cancelExport(context, organization, params.jobId, origin)),
  ),
  publicRoute(
    {
      id: 'replayExport',
      method: 'POST',
      path: `${job}/replay`,
      summary: 'Starts a new export with the content and options of an ended export.',
      key: 'admin',
      forExports: true,
      plan: 'enterprise',
      params,
      headers,
      limits: [starts],
      countsLater: true,
      status: 202,
      answer: exportJobSchema,
      answerHeaders,
      errors: ['not_completed', 'idempotency_conflict'],
    },
    async (context, { principal, params, headers, origin, count, reply }) => {
      const view = await replayExport(context, {
        jobId: params.jobId,
        idempotencyKey: headers['Idempotency-Key'],
        principal,
        origin,
        count,
      });
      return accepted(reply, view);
    },
  ),
  publicRoute(
    {
      id: 'signBundleLink',
      method: 'POST',
      path: `${job}/bundle`,
      summary: 'Signs a new link to the bundle of a completed export.',
      key: 'admin',
      forExports: true,
      // Signing changes nothing, and the host of a site needs no key that may change something.
      scope: 'read',
      params,
      limits: [perHour('links', 'linksPerHour')],
      countsLater: true,
      answer: bundleLinkSchema,
      errors: linkSigner.signLink.errors,
    },
    async (context, { principal: { organization, domains }, params, count, ask }) => {
      const { jobId, domain } = (await readJob(context, organization, params.jobId)).state;
      await count();
      const answer = await ask(linkSigner.signLink, resolveDomain(domains, domain), { body: { jobId } });
      return await answer.json();
    },
  ),
  publicRoute(
    {
      id: 'getExportReport',
      method: 'GET',
      path: `${job}/report`,
      summary: 'Returns the findings of a completed export by page: diagnostics, broken links and failed pages.',
      key: 'admin',
      forExports: true,
      params,
      query: exportReportQuerySchema,
      limits: [perHour('reports', 3_600)],
      countsLater: true,
      answer: exportReportSchema,
      errors: linkSigner.readReport.errors,
    },
    async (context, { principal: { organization, domains }, params, query, count, ask }) => {
      const { jobId, domain } = (await readJob(context, organization, params.jobId)).state;
      await count();
      const answer = await ask(linkSigner.readReport, resolveDomain(domains, domain), { body: { jobId, ...query } });
      return await answer.json();
    },
  ),
];

const accepted = (reply: FastifyReply, view: JobView) => {
  reply.header('location', `${jobs}/${view.state.jobId}`);
  return exportJobOf(view);
};

async function* historyEntries(
  context: GatewayContext,
  organization: string,
  jobId: string,
): AsyncGenerator<HistoryEntry> {
  for await (const { commit } of busHistory(context.bus.exports, exportLogSubject(organization, jobId))) {
    yield* toHistoryEntries(commit);
  }
}

async function* asLines(entries: AsyncIterable<HistoryEntry>): AsyncGenerator<string> {
  for await (const entry of entries) yield `${JSON.stringify(entry)}\n`;
}
