import {
  type CountedAgents,
  type CountedDay,
  mostCounted,
  dayOfViewsKey,
  siteViewsKey,
  type SiteViewsDocument,
  daysUntilCounted,
  siteDayOfKey,
  type SiteViewsRecord,
  viewBatchesKeptDays,
  viewsKeptDays,
  type ViewsRecord,
} from '#shared/contracts/site-views.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { firstKeptDay } from '#shared/messaging/subjects/subject-table.ts';
import type { ReadModels } from '#shared/messaging/read-models.ts';
import { type ProjectionSource, type RecordContext, updateDocument } from './projection.ts';

/**
 * Page views and searches of sites: one document for each domain and day. A repeated batch changes nothing, because the document names the batches in
 * its sums.
 */
export const viewsProjection: ProjectionSource<ViewsRecord> = {
  name: 'views',
  shape: 1,
  isUnordered: true,
  openReader: (bus, generation) => bus.projectionReaders.views(generation),
  into: ({ siteViews }) => ({
    async fold(record) {
      if (record.type === 'SiteDayCounted') {
        const { organization, domain, day, sums } = record;
        return await updateDocument(siteViews, siteViewsKey(organization, domain, day), (before) =>
          before?.isRecorded === true ? undefined : { ...sums, isRecorded: true as const, sources: [] },
        );
      }
      const { organization, source, sequence, days } = record;
      for (const { domain, ...counted } of days) {
        await updateDocument(siteViews, siteViewsKey(organization, domain, counted.day), (before) =>
          withCounted(before ?? nothing, { source, sequence }, counted),
        );
      }
    },
    finish: async () => {},
  }),
  record: recordDays,
  expire: async (generations, { now }) => {
    for (const models of generations) await expireViews(models, now);
  },
};

/**
 * Records the sums of days for which no more batches are accepted. The first call covers all days whose batches are in the log, later calls the days since
 * the call before: a dead letter or an outage may have come between. The log keeps the first record of a day, so two leaders may record the same day.
 */
async function recordDays(
  { siteViews }: ReadModels,
  { bus, until, before, confirm, signal }: RecordContext,
): Promise<void> {
  const dayBefore = (days: number): string => new Date(until.getTime() - days * dayMs).toISOString().slice(0, 10);
  const missed = before === undefined ? viewBatchesKeptDays : Math.ceil((until.getTime() - before.getTime()) / dayMs);
  const oldest = Math.min(viewBatchesKeptDays, daysUntilCounted + Math.max(1, missed));
  for (let days = oldest; days >= daysUntilCounted; days -= 1) {
    const day = dayBefore(days);
    for (const key of await siteViews.keys(`*.*.${day}`)) {
      signal.throwIfAborted();
      const stored = await siteViews.get(key, { fromLeader: true });
      if (stored === undefined || stored.document.isRecorded === true) continue;
      await confirm();
      const { sources: _, isRecorded: __, ...sums } = stored.document;
      const { organization, domain } = siteDayOfKey(key);
      const about = { version: 1, id: `sd_${key}`, time: until.toISOString(), organization, domain, day } as const;
      await bus.views.recordDay({ type: 'SiteDayCounted', ...about, sums }, viewsKeptDays - days);
    }
  }
}

/** Removes the documents of days whose first batches may have expired in the log, because a rebuild could not restore them. */
export async function expireViews({ siteViews }: Pick<ReadModels, 'siteViews'>, now: Date): Promise<void> {
  // The clock of a host may be ahead, so the first batch of a day may be from the day before.
  const firstDay = firstKeptDay(new Date(now.getTime() + dayMs), viewsKeptDays);
  for (const key of await siteViews.keys()) if (dayOfViewsKey(key) < firstDay) await siteViews.remove(key);
}

const nothing: SiteViewsDocument = {
  ...{ views: 0, paths: [], referred: 0, referrers: [] },
  ...{ searches: 0, emptySearches: 0, queries: [], sources: [] },
};

/** Limits of a document. Lists are cut when they exceed one by a quarter, so that not each batch cuts them. */
const most = { paths: 1_000, referrers: 200, queries: 300, sources: 32, sequences: 16 };

type Batch = Pick<SiteViewsRecord, 'source' | 'sequence'>;

/** The sums including a batch; undefined if they contain it already. Entries that are cut from the lists stay in the totals. Pure. */
export function withCounted(
  before: SiteViewsDocument,
  batch: Batch,
  counted: CountedDay & { agents?: CountedAgents | undefined },
): SiteViewsDocument | undefined {
  const sources = before.isRecorded === true ? undefined : withBatch(before.sources, batch);
  if (sources === undefined) return undefined;
  return {
    views: sumOf(before.views, counted.views),
    paths: withEntries(before.paths, counted.paths, most.paths),
    referred: sumOf(before.referred, counted.referred),
    referrers: withEntries(before.referrers, counted.referrers, most.referrers),
    searches: sumOf(before.searches, counted.searches),
    emptySearches: sumOf(before.emptySearches, counted.emptySearches),
    queries: withEntries(before.queries, counted.queries, most.queries),
    ...withAgents(before.agents, counted.agents),
    sources,
  };
}

const noAgents: NonNullable<SiteViewsDocument['agents']> = {
  ...{ calls: 0, tools: [], searches: 0, emptySearches: 0, queries: [], remarks: [] },
};

/** The sums of calls of agents including a batch; absent if there were none. */
function withAgents(
  before: SiteViewsDocument['agents'],
  counted: CountedAgents | undefined,
): Pick<SiteViewsDocument, 'agents'> {
  if (counted === undefined) return before === undefined ? {} : { agents: before };
  const known = before ?? noAgents;
  return {
    agents: {
      calls: sumOf(known.calls, counted.calls),
      tools: withEntries(known.tools, counted.tools, mostCounted.tools),
      searches: sumOf(known.searches, counted.searches),
      emptySearches: sumOf(known.emptySearches, counted.emptySearches),
      queries: withEntries(known.queries, counted.queries, most.queries),
      remarks: [...known.remarks, ...counted.remarks].slice(-mostCounted.remarks),
    },
  };
}

const sumOf = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER);

type Entry = readonly [name: string, ...counts: number[]];

function withEntries<E extends [string, number] | [string, number, number]>(
  before: readonly E[],
  added: readonly E[],
  limit: number,
): E[] {
  const sums = new Map<string, Entry>(before.map((entry) => [entry[0], entry]));
  for (const [name, ...counts] of added as readonly Entry[]) {
    const [, ...known] = sums.get(name) ?? [name];
    sums.set(name, [name, ...counts.map((count, at) => sumOf(known[at] ?? 0, count))]);
  }
  const sorted = [...sums.values()].sort((a, b) => (b[1] ?? 0) - (a[1] ?? 0) || (a[0] < b[0] ? -1 : 1));
  return (sorted.length > limit * 1.25 ? sorted.slice(0, limit) : sorted) as unknown as E[];
}

/**
 * The sources including a batch; undefined if it was counted before. Batches of a source arrive nearly in order, so its last few sequences tell a new
 * batch from a repeated one. Pure.
 */
function withBatch(
  sources: SiteViewsDocument['sources'],
  { source, sequence }: Batch,
): SiteViewsDocument['sources'] | undefined {
  const known = sources.find((each) => each.source === source) ?? { source, after: 0, sequences: [] };
  if (sequence <= known.after || known.sequences.includes(sequence)) return undefined;
  const sequences = [...known.sequences, sequence].sort((a, b) => a - b);
  const dropped = sequences.splice(0, Math.max(0, sequences.length - most.sequences));
  const others = sources.filter((each) => each.source !== source);
  return [...others, { source, after: dropped.at(-1) ?? known.after, sequences }].slice(-most.sources);
}
