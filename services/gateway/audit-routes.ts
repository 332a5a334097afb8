import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { listAuditQuerySchema } from '#shared/contracts/http/list-audit.ts';
import { monthsOf, type Usage, usageQuerySchema } from '#shared/contracts/http/usage.ts';
import { accepts } from './accepts.ts';
import { admissionOf, admitByKey } from './admission.ts';
import type { GatewayContext } from './context.ts';
import { auditLines, listAudit, parseCursor } from './list-audit.ts';
import { monthUsage } from './month-usage.ts';
import { parseInput } from './parse-input.ts';
import { readJob } from './read-job.ts';
import { resolveDomain } from './resolve-domain.ts';

/** Who did what in an organization, and what it used. */
export async function auditRoutes(app: FastifyInstance, context: GatewayContext): Promise<void> {
  app.addHook('onRequest', admitByKey(context, { kinds: ['admin'], scope: 'method' }));

  app.get('/v1/audit', async (request, reply) => {
    const { organization, domains } = admissionOf(request);
    const { limit, cursor, ...query } = parseInput(listAuditQuerySchema, request.query, 'query');
    const filter = {
      ...query,
      domain: query.domain === undefined ? undefined : resolveDomain(domains, query.domain).slug,
      before: cursor === undefined ? undefined : parseCursor(cursor),
    };
    if (query.jobId !== undefined) {
      // Nothing is said of a job before its request, so older days need not be read.
      const { createdAt } = (await readJob(context, organization, query.jobId)).state;
      if (query.since === undefined || Date.parse(query.since) < Date.parse(createdAt)) filter.since = createdAt;
    }
    if (accepts(request, 'application/x-ndjson')) {
      const lines = auditLines(context, organization, filter, limit);
      // The first line before the head of the answer: when it cannot be read, the status says so.
      return reply.type('application/x-ndjson').send(Readable.from(resumed(await lines.next(), lines)));
    }
    return await listAudit(context, organization, filter, limit);
  });

  app.get('/v1/usage', async (request): Promise<Usage> => {
    const { organization } = admissionOf(request);
    const { month, months } = parseInput(usageQuerySchema, request.query, 'query');
    const wanted = months === undefined ? [month ?? context.clock.now().toISOString().slice(0, 7)] : monthsOf(months);
    return {
      organization,
      months: await Promise.all(wanted.map((one) => monthUsage(context, organization, one))),
    };
  });
}

async function* resumed<T>(first: IteratorResult<T>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}
