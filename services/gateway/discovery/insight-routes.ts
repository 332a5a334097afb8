import { z } from 'zod';
import {
  insightsQuerySchema,
  insightsSchema,
  questionsQuerySchema,
  questionsSchema,
} from '#shared/interfaces/http/insights.ts';
import { domainName } from '#shared/contracts/identifiers.ts';
import { conversationsKeptDays, type InsightFigures, insightFiguresKey } from '#shared/contracts/insights.ts';
import { siteViewsDocumentSchema, siteViewsKey } from '#shared/contracts/site-views.ts';
import { firstKeptDay } from '#shared/messaging/subjects/subject-table.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { askBus } from '../ask-bus.ts';
import { resolveDomain } from '../auth/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { publicRoute } from '../public-route.ts';
import { eachDay } from '../sites/view-routes.ts';
import { agentSums } from './sum-agents.ts';
import { sumInsights } from './sum-insights.ts';
import { questionsOf } from './sum-questions.ts';

const defaultDays = 30;
const defaultLimit = 20;

/** Statistics of readers' questions on a documentation site, for its organization. */
export const insightRoutes = [
  publicRoute(
    {
      id: 'readInsights',
      method: 'GET',
      path: '/v1/assistant/:domain/insights',
      summary: 'Returns questions without an answer, the pages used most in answers, and ratings.',
      key: 'admin',
      params: z.object({ domain: domainName }),
      query: insightsQuerySchema,
      answer: insightsSchema,
    },
    async (context, { principal: { organization }, domain, query: { days = defaultDays, limit = defaultLimit } }) => {
      const wanted = lastDays(context.clock.now(), days);
      const figures = await figuresOf(context, organization, domain.slug, wanted);
      const [from = '', to = from] = [wanted[0], wanted.at(-1)];
      const agents = agentSums();
      const calls = (day: string) => agentsOn(context, siteViewsKey(organization, domain.slug, day), day);
      await eachDay(context.clock, { from, to }, calls, (each) => agents.add(each));
      return { domain: domain.slug, from, to, ...sumInsights(figures, limit), agents: agents.result(limit) };
    },
  ),
  publicRoute(
    {
      id: 'readQuestions',
      method: 'GET',
      path: '/v1/questions',
      summary: 'Returns the numbers of questions on all documentation sites of the organization, by domain and by day.',
      key: 'admin',
      query: questionsQuerySchema,
      answer: questionsSchema,
      errors: ['not_found'],
    },
    async ({ bus, clock }, { principal: { organization, domains }, query: { days = defaultDays, domain } }) => {
      const wanted = lastDays(clock.now(), days);
      const slugs = domain === undefined ? domains.map(({ slug }) => slug) : [resolveDomain(domains, domain).slug];
      const [from = '', to = from] = [wanted[0], wanted.at(-1)];
      return { from, to, ...(await questionsOf(bus.readModels.usageConversations, organization, slugs, wanted)) };
    },
  ),
];

/** Today and the days before it, as many as requested and kept, oldest first. */
function lastDays(now: Date, count: number): string[] {
  const days = Array.from({ length: count }, (_, ago) =>
    new Date(now.getTime() - ago * dayMs).toISOString().slice(0, 10),
  );
  const firstDay = firstKeptDay(now, conversationsKeptDays);
  return days.filter((day) => day >= firstDay).reverse();
}

const agentsSchema = siteViewsDocumentSchema.pick({ agents: true });

/**
 * Calls of agents on a day. The document also has the views of a thousand pages, so only the part with the calls is checked, and it is not read as JSON on
 * days without calls. A string in JSON cannot contain the quotation marks of the name.
 */
async function agentsOn({ bus }: Pick<GatewayContext, 'bus'>, key: string, day: string) {
  const stored = await askBus(bus.readModels.siteViews.getText(key));
  if (stored?.text.includes('"agents":') !== true) return undefined;
  const read = agentsSchema.safeParse(jsonIn(stored.text.toString()));
  // The error of the store names the wrong field.
  return { day, document: read.success ? read.data : stored.parse() };
}

const readsAtOnce = 10;

/** Each day's figures, oldest first; a day without questions has none. */
async function figuresOf(
  { bus }: Pick<GatewayContext, 'bus'>,
  organization: string,
  domain: string,
  days: readonly string[],
): Promise<{ day: string; figures: InsightFigures }[]> {
  const { insightFigures } = bus.readModels;
  const found: { day: string; figures: InsightFigures }[] = [];
  for (let start = 0; start < days.length; start += readsAtOnce) {
    const some = days.slice(start, start + readsAtOnce);
    const read = await Promise.all(
      some.map((day) => askBus(insightFigures.get(insightFiguresKey(organization, domain, day)))),
    );
    for (const [index, stored] of read.entries()) {
      const day = some[index];
      if (stored !== undefined && day !== undefined) found.push({ day, figures: stored.document });
    }
  }
  return found;
}
