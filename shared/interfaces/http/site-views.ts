import { z } from 'zod';
import { domainSlug } from '#shared/contracts/identifiers.ts';
import { countedDaySchema, countingSource } from '#shared/contracts/site-views.ts';

/** Limit of the days of sites in one batch. */
export const mostDaysInBatch = 500;
/** Limit of the entries in all lists of a batch, with which a batch stays below a megabyte. */
export const mostEntriesInBatch = 3_000;

/** Number of entries in the lists of a day. Pure. */
export const entriesIn = ({
  paths,
  referrers,
  queries,
}: Pick<z.infer<typeof countedDaySchema>, 'paths' | 'referrers' | 'queries'>): number =>
  paths.length + referrers.length + queries.length;

/** Body of `POST /v1/sites/views`: a batch of counts of a host of sites. A batch that is sent again has the same source, sequence and days. */
export const siteViewsBodySchema = z
  .strictObject({
    source: countingSource,
    sequence: z.int().min(1),
    days: z
      .array(countedDaySchema.extend({ site: z.string().max(300) }))
      .min(1)
      .max(mostDaysInBatch),
  })
  .refine(({ days }) => new Set(days.map(({ site, day }) => `${site} ${day}`)).size === days.length, {
    path: ['days'],
    message: 'must have each day of a site once',
  })
  .refine(({ days }) => days.reduce((sum, day) => sum + entriesIn(day), 0) <= mostEntriesInBatch, {
    path: ['days'],
    message: `must have at most ${mostEntriesInBatch} entries in all lists`,
  })
  .meta({ title: 'SiteViewsBatch' });

export type SiteViewsBody = z.infer<typeof siteViewsBodySchema>;

/** Answer of `POST /v1/sites/views`. Days of sites that are closed or not counted, and days long ago, are refused permanently. */
export const siteViewsTakenSchema = z
  .object({ accepted: z.int().min(0), refused: z.int().min(0) })
  .meta({ title: 'SiteViewsTaken' });

const orders = ['day', 'path', 'referrer'] as const;
const range = { from: z.iso.date().optional(), to: z.iso.date().optional() };
const limit = z.coerce.number().int().min(1).max(1_000).optional();

/** Query of `GET /v1/domains/{domain}/views`. */
export const viewsQuerySchema = z.object({ ...range, by: z.enum(orders).optional(), limit });
/** Query of `GET /v1/domains/{domain}/searches`, and of `GET /v1/domains/{domain}/readers`. */
export const searchesQuerySchema = z.object({ ...range, limit });

const sum = z.int().min(0);
const counted = { domain: domainSlug, from: z.iso.date(), to: z.iso.date(), total: sum };

/** Answer of `GET /v1/domains/{domain}/views`. */
export const viewsSchema = z
  .object({
    ...counted,
    by: z.enum(orders),
    /** Page views without a referrer, or that followed a link of the site itself. Present by referrer. */
    direct: sum.optional(),
    /** Days in their order; paths and referrers with the most views first. */
    entries: z.array(z.object({ name: z.string(), views: sum })),
    /** Page views of paths or referrers that are not in the list. */
    other: sum,
  })
  .meta({ title: 'Views' });

export type Views = z.infer<typeof viewsSchema>;

/** Answer of `GET /v1/domains/{domain}/searches`. */
export const searchesSchema = z
  .object({
    ...counted,
    /** Searches that found nothing. */
    empty: sum,
    queries: z.array(z.object({ query: z.string(), searches: sum, empty: sum })),
    /** Searches whose words are not in the list. */
    other: sum,
    days: z.array(z.object({ day: z.iso.date(), searches: sum, empty: sum })),
  })
  .meta({ title: 'Searches' });

export type Searches = z.infer<typeof searchesSchema>;

/** Answer of `GET /v1/domains/{domain}/readers`. */
export const readersSchema = z
  .object({
    ...{ domain: counted.domain, from: counted.from, to: counted.to },
    /** Page views. */
    views: sum,
    searches: sum,
    /** Days with page views or searches, oldest first. `empty`: searches that found nothing. */
    days: z.array(z.object({ day: z.iso.date(), views: sum, searches: sum, empty: sum })),
    /** Pages with the most views first. */
    paths: viewsSchema.shape.entries,
    /** The most frequent searches first. */
    queries: searchesSchema.shape.queries,
  })
  .meta({ title: 'Readers' });

export type Readers = z.infer<typeof readersSchema>;
