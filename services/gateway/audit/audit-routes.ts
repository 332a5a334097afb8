import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { admissionOf, admitByKey, resolveDomain } from '#services/gateway/auth/admission.ts';
import { readJob } from '#services/gateway/exports/read-job.ts';
import { type SomeUsageFigures, usageFigureNames } from '#shared/contracts/audit-entry.ts';
import {
  listAuditQuerySchema,
  monthsOf,
  type Usage,
  type UsageMonth,
  usageQuerySchema,
} from '#shared/contracts/http/audit.ts';
import { usageKey } from '#shared/contracts/read-models.ts';
import { firstKeptDay } from '#shared/messaging/subjects/subject-table.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import { accepts, parseInput } from '../parse-input.ts';
import { auditLines, listAudit, parseCursor } from './list-audit.ts';

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

/** What an organization used in a month (`2026-03`): each day's figures of all logs, and their sums. */
export async function monthUsage(
  { bus, clock }: Pick<GatewayContext, 'bus' | 'clock'>,
  organization: string,
  month: string,
): Promise<UsageMonth> {
  const { usageExports, usageContent, usageAccess } = bus.readModels;
  const key = usageKey(organization, month);
  const hasAllLinks = `${month}-01` >= firstKeptDay(clock.now());
  const documents = await Promise.all([
    askBus(usageExports.get(key)),
    askBus(usageContent.get(key)),
    ...(hasAllLinks ? [askBus(usageAccess.get(key))] : []),
  ]);
  const days = new Map<string, SomeUsageFigures>();
  const total: SomeUsageFigures = {};
  for (const name of usageFigureNames) if (name !== 'linksSigned' || hasAllLinks) total[name] = 0;
  for (const stored of documents) {
    for (const [day, figures] of Object.entries(stored?.document.days ?? {})) {
      days.set(day, { ...days.get(day), ...figures });
      for (const name of usageFigureNames) {
        if (figures[name] !== undefined) total[name] = (total[name] ?? 0) + figures[name];
      }
    }
  }
  return {
    month,
    total,
    days: [...days]
      .filter(([, figures]) => Object.keys(figures).length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([day, figures]) => ({ day: `${month}-${day}`, figures })),
  };
}
