import type { Readers, Searches, Views } from '#shared/interfaces/http/site-views.ts';
import type { SiteViewsDocument } from '#shared/contracts/site-views.ts';

/** The document of a day with page views or searches. */
export type ViewedDay = { day: string; document: SiteViewsDocument };

/** Number of names whose sums are kept. With twice as many, those with the lowest sums are left out. */
const mostNames = 20_000;

/** Sums by name. The limit bounds the memory even if each day of a year has other names. */
export function sumsByName() {
  let sums = new Map<string, [number, number]>();
  const sorted = () => [...sums].sort(([a, [one]], [b, [other]]) => other - one || (a < b ? -1 : 1));
  return {
    sorted,
    add(name: string, first: number, second = 0): void {
      const [one, two] = sums.get(name) ?? [0, 0];
      sums.set(name, [one + first, two + second]);
      if (sums.size >= 2 * mostNames) sums = new Map(sorted().slice(0, mostNames));
    },
  };
}

/** Page views of some days, which are added one by one, oldest first, so that no more than their sums are in memory. */
export function viewSums(by: Views['by']) {
  const names = sumsByName();
  const perDay: { name: string; views: number }[] = [];
  let total = 0;
  let referred = 0;
  return {
    add({ day, document }: ViewedDay): void {
      total = sumOf(total, document.views);
      referred = sumOf(referred, document.referred);
      if (by === 'day') {
        if (document.views > 0) perDay.push({ name: day, views: document.views });
      } else for (const [name, views] of by === 'path' ? document.paths : document.referrers) names.add(name, views);
    },
    /** The sums, with at most `limit` paths or referrers. */
    result(limit: number): Pick<Views, 'total' | 'by' | 'direct' | 'entries' | 'other'> {
      if (by === 'day') return { total, by, entries: perDay, other: 0 };
      const entries = names
        .sorted()
        .slice(0, limit)
        .map(([name, [views]]) => ({ name, views }));
      const listed = entries.reduce((sum, { views }) => sum + views, 0);
      return {
        ...{ total, by },
        ...(by === 'referrer' ? { direct: Math.max(0, total - referred) } : {}),
        entries,
        other: Math.max(0, (by === 'referrer' ? referred : total) - listed),
      };
    },
  };
}

/** Sums of searches of some days, which are added one by one like those of `viewSums`. */
export function searchSums() {
  const names = sumsByName();
  const days: Searches['days'] = [];
  let total = 0;
  let empty = 0;
  return {
    add({ day, document: { searches, emptySearches, queries } }: ViewedDay): void {
      total = sumOf(total, searches);
      empty = sumOf(empty, emptySearches);
      if (searches > 0) days.push({ day, searches, empty: emptySearches });
      for (const [query, count, found] of queries) names.add(query, count, found);
    },
    /** The sums, with at most `limit` queries. */
    result(limit: number): Pick<Searches, 'total' | 'empty' | 'queries' | 'other' | 'days'> {
      const queries = names
        .sorted()
        .slice(0, limit)
        .map(([query, [searches, nothing]]) => ({ query, searches, empty: nothing }));
      const other = Math.max(0, total - queries.reduce((sum, { searches }) => sum + searches, 0));
      return { total, empty, queries, other, days };
    },
  };
}

/** Page views and searches together, so that the document of a day is read once for both. */
export function readerSums() {
  const views = viewSums('path');
  const searches = searchSums();
  const days: Readers['days'] = [];
  return {
    add(viewed: ViewedDay): void {
      views.add(viewed);
      searches.add(viewed);
      const { day, document } = viewed;
      if (document.views + document.searches > 0)
        days.push({ day, views: document.views, searches: document.searches, empty: document.emptySearches });
    },
    /** The sums, with at most `limit` paths and as many queries. */
    result(limit: number): Pick<Readers, 'views' | 'searches' | 'days' | 'paths' | 'queries'> {
      const { total, entries } = views.result(limit);
      const searched = searches.result(limit);
      return { views: total, searches: searched.total, days, paths: entries, queries: searched.queries };
    },
  };
}

export const sumOf = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER);
