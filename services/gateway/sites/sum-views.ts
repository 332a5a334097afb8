import type { Searches, Views } from '#shared/interfaces/http/site-views.ts';
import type { SiteViewsDocument } from '#shared/contracts/site-views.ts';

/** The document of a day with page views or searches. */
export type ViewedDay = { day: string; document: SiteViewsDocument };

/** Page views of some days, oldest first, with at most `limit` paths or referrers. Pure. */
export function sumViews(
  days: readonly ViewedDay[],
  by: Views['by'],
  limit: number,
): Pick<Views, 'total' | 'by' | 'direct' | 'entries' | 'other'> {
  const total = sumOf(days, ({ views }) => views);
  if (by === 'day') {
    const entries = days.map(({ day, document: { views } }) => ({ name: day, views })).filter(({ views }) => views > 0);
    return { total, by, entries, other: 0 };
  }
  const referred = sumOf(days, (document) => document.referred);
  const sums = new Map<string, number>();
  for (const { document } of days)
    for (const [name, views] of by === 'path' ? document.paths : document.referrers)
      sums.set(name, (sums.get(name) ?? 0) + views);
  const entries = [...sums]
    .map(([name, views]) => ({ name, views }))
    .sort((a, b) => b.views - a.views || (a.name < b.name ? -1 : 1))
    .slice(0, limit);
  const listed = entries.reduce((sum, { views }) => sum + views, 0);
  return {
    ...{ total, by },
    ...(by === 'referrer' ? { direct: Math.max(0, total - referred) } : {}),
    entries,
    other: Math.max(0, (by === 'referrer' ? referred : total) - listed),
  };
}

/** Searches of some days, oldest first, with at most `limit` queries. Pure. */
export function sumSearches(
  days: readonly ViewedDay[],
  limit: number,
): Pick<Searches, 'total' | 'empty' | 'queries' | 'other' | 'days'> {
  const total = sumOf(days, ({ searches }) => searches);
  const sums = new Map<string, { searches: number; empty: number }>();
  for (const { document } of days)
    for (const [query, searches, empty] of document.queries) {
      const known = sums.get(query) ?? { searches: 0, empty: 0 };
      sums.set(query, { searches: known.searches + searches, empty: known.empty + empty });
    }
  const queries = [...sums]
    .map(([query, counts]) => ({ query, ...counts }))
    .sort((a, b) => b.searches - a.searches || (a.query < b.query ? -1 : 1))
    .slice(0, limit);
  return {
    total,
    empty: sumOf(days, ({ emptySearches }) => emptySearches),
    queries,
    other: Math.max(0, total - queries.reduce((sum, { searches }) => sum + searches, 0)),
    days: days
      .map(({ day, document: { searches, emptySearches } }) => ({ day, searches, empty: emptySearches }))
      .filter(({ searches }) => searches > 0),
  };
}

const sumOf = (days: readonly ViewedDay[], of: (document: SiteViewsDocument) => number): number =>
  Math.min(
    days.reduce((sum, { document }) => sum + of(document), 0),
    Number.MAX_SAFE_INTEGER,
  );
