import { Readable } from 'node:stream';
import { type SomeUsageFigures, type UsageFigureName, usageFigureNames } from '#shared/contracts/audit-entry.ts';
import {
  auditListSchema,
  listAuditQuerySchema,
  monthsOf,
  shownAuditEntrySchema,
  type UsageMonth,
  usageQuerySchema,
  usageSchema,
} from '#shared/interfaces/http/audit.ts';
import { conversationsKeptDays, insightOwner } from '#shared/contracts/insights.ts';
import { usageKey } from '#shared/interfaces/read-models.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { firstKeptDay } from '#shared/messaging/subjects/subject-table.ts';
import { askBus } from '../ask-bus.ts';
import { type Principal, resolveDomain } from '../auth/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { readJob } from '../exports/read-job.ts';
import { accepts } from '../parse-input.ts';
import { publicRoute } from '../public-route.ts';
import { addressHashOf } from './request-behind.ts';
import { auditLines, listAudit, parseAuditCursor } from './list-audit.ts';

const ndjson = 'application/x-ndjson';

/** The audit and the usage of an organization. */
export const auditRoutes = [
  publicRoute(
    {
      id: 'listAudit',
      method: 'GET',
      path: '/v1/audit',
      summary: 'Lists the audit entries of the organization, newest first.',
      key: 'admin',
      query: listAuditQuerySchema,
      answer: auditListSchema,
      alsoAs: {
        [ndjson]: {
          description: 'One entry per line: all that match, or at most `limit`.',
          item: shownAuditEntrySchema,
        },
      },
      errors: ['not_found'],
    },
    async (
      context,
      { principal: { organization, domains }, query: { limit, cursor, address, ...query }, request, reply },
    ) => {
      const filter = {
        ...query,
        domain: query.domain === undefined ? undefined : resolveDomain(domains, query.domain).slug,
        addressHash: address && addressHashOf(context.config.hashKey, organization, address),
        before: cursor === undefined ? undefined : parseAuditCursor(cursor),
      };
      if (query.jobId !== undefined) {
        // A job has no entries before its request, so older days need not be read.
        const { createdAt } = (await readJob(context, organization, query.jobId)).state;
        if (query.since === undefined || Date.parse(query.since) < Date.parse(createdAt)) filter.since = createdAt;
      }
      if (accepts(request, ndjson)) {
        const lines = auditLines(context, organization, filter, limit);
        // The first line is read before the head of the answer is sent: if that fails, the status says so.
        return reply.type(ndjson).send(Readable.from(resumed(await lines.next(), lines)));
      }
      return await listAudit(context, organization, filter, limit);
    },
  ),
  publicRoute(
    {
      id: 'getUsage',
      method: 'GET',
      path: '/v1/usage',
      summary: 'Returns the usage of the organization in one or several months.',
      key: 'admin',
      query: usageQuerySchema,
      answer: usageSchema,
    },
    async (context, { principal, query: { month, months } }) => {
      const wanted = months === undefined ? [month ?? context.clock.now().toISOString().slice(0, 7)] : monthsOf(months);
      return {
        organization: principal.organization,
        months: await Promise.all(wanted.map((one) => monthUsage(context, principal, one))),
      };
    },
  ),
];

async function* resumed<T>(first: IteratorResult<T>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

/** Usage of an organization in a month (`2026-03`): each day's figures from all logs, and their sums. */
async function monthUsage(
  { bus, clock }: Pick<GatewayContext, 'bus' | 'clock'>,
  { organization, domains }: Pick<Principal, 'organization' | 'domains'>,
  month: string,
): Promise<UsageMonth> {
  const { usageExports, usageContent, usageAccess, usageConversations } = bus.readModels;
  const key = usageKey(organization, month);
  const isKept = (firstDay: string): boolean => `${month}-01` >= firstDay;
  const hasAllLinks = isKept(firstKeptDay(clock.now()));
  const hasAllQuestions = isKept(firstKeptDay(clock.now(), conversationsKeptDays));
  const isKnown = (name: UsageFigureName): boolean =>
    name === 'linksSigned' ? hasAllLinks : name === 'questions' || name === 'tokens' ? hasAllQuestions : true;
  const documents = await Promise.all([
    askBus(usageExports.get(key)),
    askBus(usageContent.get(key)),
    ...(hasAllLinks ? [askBus(usageAccess.get(key))] : []),
  ]);
  const owners = (hasAllQuestions ? domains : []).map(({ slug }) => insightOwner(organization, slug));
  // An organization may have 200 domains, so their documents are read together.
  const conversations = await askBus(usageConversations.getMany(owners.map((owner) => usageKey(owner, month))));
  for (const each of conversations) if ('problem' in each) throw new Poison(each.problem);
  const days = new Map<string, SomeUsageFigures>();
  const total: SomeUsageFigures = {};
  for (const name of usageFigureNames) if (isKnown(name)) total[name] = 0;
  const counted = [...documents, ...conversations].flatMap((each) =>
    each !== undefined && 'document' in each ? [each.document] : [],
  );
  for (const document of counted) {
    for (const [day, figures] of Object.entries(document.days)) {
      const ofDay = { ...days.get(day) };
      days.set(day, ofDay);
      for (const name of usageFigureNames) {
        if (figures[name] === undefined) continue;
        total[name] = (total[name] ?? 0) + figures[name];
        ofDay[name] = (ofDay[name] ?? 0) + figures[name];
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
