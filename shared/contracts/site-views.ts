import { z } from 'zod';
import { domainSlug, organizationId, timestamp } from './identifiers.ts';
import { storedMessage } from './upcast.ts';

/** Retention of counted page views and searches. */
export const viewsKeptDays = 400;
/** Retention of batches. The sums of a past day are recorded long before, and replace them. */
export const viewBatchesKeptDays = 30;
/** Age in days from which the sums of a day are final. Hosts keep batches for two days, and one more day allows for clocks and retries. */
export const daysUntilCounted = 4;

/** Limits of one day of one site in a batch, and of the texts in it. */
export const mostCounted = { paths: 1_000, referrers: 200, queries: 300, tools: 20, remarks: 50 };
const longest = { path: 200, referrer: 100, query: 80, tool: 40, remark: 500 };
const mostInBatch = 1_000_000;

const count = z.int().min(0).max(mostInBatch);
/** Path of a page as in its address, such as `/guides/x`. */
export const countedPath = z
  .string()
  .max(longest.path)
  .regex(/^\/[!"$->@-~]*$/, 'must be an encoded path without a query');
/** Host name of the page with the link, without a port. */
export const countedReferrer = z
  .string()
  .max(longest.referrer)
  .regex(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/, 'must be a host name in lower case');
/** Searched words, as `countedQueryOf` writes them. */
const countedQuery = z
  .string()
  .min(1)
  .max(longest.query)
  .regex(/^[^\u0000-\u001f\u007f]+$/, 'must be one line');

/**
 * The page views and searches of one day (UTC) of a site. The lists have the most frequent entries; sums count all. Paths and referrers are counted
 * separately, so the record does not reveal which page a reader from another site opened.
 */
export const countedDaySchema = z.strictObject({
  day: z.iso.date(),
  views: count,
  paths: z.array(z.tuple([countedPath, count])).max(mostCounted.paths),
  /** Views that followed a link of another site. */
  referred: count,
  referrers: z.array(z.tuple([countedReferrer, count])).max(mostCounted.referrers),
  searches: count,
  /** Searches that found nothing. */
  emptySearches: count,
  /** Query, searches, searches that found nothing. */
  queries: z.array(z.tuple([countedQuery, count, count])).max(mostCounted.queries),
});

export type CountedDay = z.infer<typeof countedDaySchema>;

/** A remark of an agent about the documentation. `path`: the page that it is about. */
const agentRemarkSchema = z.object({
  message: z.string().min(1).max(longest.remark),
  path: countedPath.optional(),
  rating: z.enum(['up', 'down']).optional(),
});
export type AgentRemark = z.infer<typeof agentRemarkSchema>;

/** Calls of agents (MCP) of one day, by tool, with the words of their searches. Lists have the most frequent entries; the newest remark is last. */
const countedAgentsSchema = z.object({
  calls: count,
  tools: z.array(z.tuple([z.string().max(longest.tool), count])).max(mostCounted.tools),
  searches: count,
  /** Searches that found nothing. */
  emptySearches: count,
  /** Query, searches, searches that found nothing. */
  queries: z.array(z.tuple([countedQuery, count, count])).max(mostCounted.queries),
  remarks: z.array(agentRemarkSchema).max(mostCounted.remarks),
});
export type CountedAgents = z.infer<typeof countedAgentsSchema>;

/** Identity of a host's process that counts. */
export const countingSource = z.string().regex(/^[0-9A-Za-z]{16}$/, 'must be 16 letters or digits');

/**
 * A batch of counts from a host of sites, as far as it concerns one organization (`views.<org>`, kept 30 days). A host may send a batch more than once; the
 * source and its sequence identify it.
 */
export const siteViewsRecordSchema = z.object({
  type: z.literal('SitesViewed'),
  version: z.literal(1),
  id: z.string(),
  time: timestamp,
  organization: organizationId,
  source: countingSource,
  sequence: z.int().min(1),
  /** `agents`: calls of agents, which gateways count. Records of earlier versions have none. */
  days: z.array(countedDaySchema.extend({ domain: domainSlug, agents: countedAgentsSchema.optional() })).min(1),
});

export type SiteViewsRecord = z.infer<typeof siteViewsRecordSchema>;

const sum = z.int().min(0);

/** The sums of one day of a site. Entries are sorted by their counts, then by their names. */
const daySumsSchema = z.object({
  views: sum,
  paths: z.array(z.tuple([z.string(), sum])),
  referred: sum,
  referrers: z.array(z.tuple([z.string(), sum])),
  searches: sum,
  emptySearches: sum,
  queries: z.array(z.tuple([z.string(), sum, sum])),
  agents: z
    .object({
      calls: sum,
      tools: z.array(z.tuple([z.string(), sum])),
      searches: sum,
      emptySearches: sum,
      queries: z.array(z.tuple([z.string(), sum, sum])),
      remarks: z.array(agentRemarkSchema),
    })
    .optional(),
});

/**
 * The sums of a past day of a site, recorded once (`views.<org>=<domain>=<day>`, kept until 400 days after the day). They replace the batches of that day,
 * and none is added to them.
 */
export const siteDayRecordSchema = z.object({
  type: z.literal('SiteDayCounted'),
  version: z.literal(1),
  id: z.string(),
  time: timestamp,
  organization: organizationId,
  domain: domainSlug,
  day: z.iso.date(),
  sums: daySumsSchema,
});

export type SiteDayRecord = z.infer<typeof siteDayRecordSchema>;

/** A message of the stream `VIEWS`. */
export type ViewsRecord = SiteViewsRecord | SiteDayRecord;
export const storedViewsRecord = storedMessage(
  z.discriminatedUnion('type', [siteViewsRecordSchema, siteDayRecordSchema]),
  {},
);

/** Bucket `views`, key `<org>.<domain>.<yyyy-mm-dd>`: the sums of a day. */
export const siteViewsDocumentSchema = daySumsSchema.extend({
  /** True once the sums were recorded: they are final. */
  isRecorded: z.literal(true).optional(),
  /** The batches that are in the sums, by their source, the latest source last. `after`: batches up to this sequence are refused. */
  sources: z.array(z.object({ source: z.string(), after: sum, sequences: z.array(sum) })),
});

export type SiteViewsDocument = z.infer<typeof siteViewsDocumentSchema>;

export const siteViewsKey = (organization: string, domain: string, day: string): string =>
  `${organization}.${domain}.${day}`;

/** The parts of the key of a document of views. */
export function siteDayOfKey(key: string): { organization: string; domain: string; day: string } {
  const [organization = '', domain = '', day = ''] = key.split('.');
  return { organization, domain, day };
}

/** The day in the key of a document of views. */
export const dayOfViewsKey = (key: string): string => siteDayOfKey(key).day;

/**
 * A query as it is counted: one line in lower case without spaces around it, cut to 80 characters. Words that may name a person or grant access, such
 * as addresses, long numbers and keys, are replaced by `…`. Undefined if nothing is left. Pure.
 */
export const countedQueryOf = (text: string): string | undefined =>
  withoutPrivateWords(text.slice(0, 1_000).toLowerCase(), longest.query);

/** The text of a remark as it is stored: like a query, but with its capital letters and up to 500 characters. Pure. */
export const remarkOf = (text: string): string | undefined => withoutPrivateWords(text.slice(0, 4_000), longest.remark);

function withoutPrivateWords(text: string, most: number): string | undefined {
  const words = text
    .normalize('NFC')
    .replaceAll(/[\u0000-\u001f\u007f\u2028\u2029]/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => (isPrivate(word) ? '…' : word));
  const kept = words.join(' ').slice(0, most).toWellFormed().trim();
  return kept === '' || /^[… ]+$/.test(kept) ? undefined : kept;
}

const isPrivate = (word: string): boolean =>
  /.@./.test(word) || /\d{6,}/.test(word.replaceAll(/[-./()+]/g, '')) || (word.length > 24 && /\d/.test(word));
