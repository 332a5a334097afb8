import { z } from 'zod';
import {
  readersSchema,
  searchesQuerySchema,
  searchesSchema,
  siteViewsBodySchema,
  siteViewsTakenSchema,
  viewsQuerySchema,
  viewsSchema,
} from '#shared/interfaces/http/site-views.ts';
import { domainName } from '#shared/contracts/identifiers.ts';
import { siteViewsKey, viewsKeptDays } from '#shared/contracts/site-views.ts';
import { ApiError } from '#shared/http/errors.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { type Clock, dayMs } from '#shared/runtime/time-and-ids.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import { publicRoute } from '../public-route.ts';
import { perHour } from '../rate-limits.ts';
import { countViews } from './count-views.ts';
import { readerSums, searchSums, type ViewedDay, viewSums } from './sum-views.ts';

const params = z.object({ domain: domainName });
const usualDays = 30;
const usualLimit = 100;
const readsAtOnce = 10;

/** Page views and searches of sites: the batches of hosts, and their sums. */
export const viewRoutes = [
  publicRoute(
    {
      id: 'countSiteViews',
      method: 'POST',
      path: '/v1/sites/views',
      summary: 'Records a batch of page views and searches that a host of sites counted. It may be sent again.',
      key: 'site',
      body: siteViewsBodySchema,
      limits: [perHour('site-views', 100_000)],
      answer: siteViewsTakenSchema,
    },
    async (context, { body }) => {
      const accepted = await countViews(context, body);
      return { accepted, refused: body.days.length - accepted };
    },
  ),
  publicRoute(
    {
      id: 'readViews',
      method: 'GET',
      path: '/v1/domains/:domain/views',
      summary: 'Returns the page views of a site by day, path or referrer.',
      key: 'admin',
      params,
      query: viewsQuerySchema,
      answer: viewsSchema,
    },
    async (context, { principal: { organization }, domain: { slug }, query }) => {
      const { by = 'day', limit = usualLimit, ...range } = query;
      const sums = viewSums(by);
      const days = await addDays(context, organization, slug, range, (day) => sums.add(day));
      return { domain: slug, ...days, ...sums.result(limit) };
    },
  ),
  publicRoute(
    {
      id: 'readSearches',
      method: 'GET',
      path: '/v1/domains/:domain/searches',
      summary: 'Returns what readers of a site searched for, and how often it found nothing.',
      key: 'admin',
      params,
      query: searchesQuerySchema,
      answer: searchesSchema,
    },
    async (context, { principal: { organization }, domain: { slug }, query: { limit = usualLimit, ...range } }) => {
      const sums = searchSums();
      const days = await addDays(context, organization, slug, range, (day) => sums.add(day));
      return { domain: slug, ...days, ...sums.result(limit) };
    },
  ),
  publicRoute(
    {
      id: 'readReaders',
      method: 'GET',
      path: '/v1/domains/:domain/readers',
      summary:
        'Returns page views and searches of a site by day, with its most viewed pages and most frequent searches.',
      key: 'admin',
      params,
      query: searchesQuerySchema,
      answer: readersSchema,
    },
    async (context, { principal: { organization }, domain: { slug }, query: { limit = usualLimit, ...range } }) => {
      const sums = readerSums();
      const days = await addDays(context, organization, slug, range, (day) => sums.add(day));
      return { domain: slug, ...days, ...sums.result(limit) };
    },
  ),
];

type Range = { from?: string | undefined; to?: string | undefined };

/** Adds the days of a range that have a document, oldest first, and returns the range. Throws `invalid_request`. */
export async function addDays(
  {
    bus,
    clock,
  }: {
    bus: { readModels: { siteViews: Pick<GatewayContext['bus']['readModels']['siteViews'], 'get'> } };
    clock: Clock;
  },
  organization: string,
  domain: string,
  range: Range,
  add: (day: ViewedDay) => void,
): Promise<{ from: string; to: string }> {
  const read = async (day: string): Promise<ViewedDay | undefined> => {
    const stored = await askBus(bus.readModels.siteViews.get(siteViewsKey(organization, domain, day)));
    return stored === undefined ? undefined : { day, document: stored.document };
  };
  return await eachDay(clock, range, read, add);
}

/**
 * Reads the days of a range, oldest first, and returns the range: by default the last 30 days. A document may have 0.4 MB, so only a few are in memory.
 * Throws `invalid_request`.
 */
export async function eachDay<D>(
  clock: Clock,
  range: Range,
  read: (day: string) => Promise<D | undefined>,
  add: (found: D) => void,
): Promise<{ from: string; to: string }> {
  const to = range.to ?? clock.now().toISOString().slice(0, 10);
  const from = range.from ?? daysBefore(to, usualDays - 1);
  const count = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  if (count < 1 || count > viewsKeptDays) {
    const message = `must be a day up to ${to}, and at most ${viewsKeptDays} days before it`;
    throw new ApiError('invalid_request', `The query parameter "from" ${message}.`, {
      fields: [{ path: 'from', message }],
    });
  }
  const wanted = Array.from({ length: count }, (_, at) => daysBefore(to, count - 1 - at));
  while (wanted.length > 0)
    for (const found of await inParallel(wanted.splice(0, readsAtOnce), readsAtOnce, read))
      if (found !== undefined) add(found);
  return { from, to };
}

const daysBefore = (day: string, count: number): string =>
  new Date(Date.parse(day) - count * dayMs).toISOString().slice(0, 10);
