import { createHmac, randomBytes } from 'node:crypto';
import {
  entriesIn,
  mostDaysInBatch,
  mostEntriesInBatch,
  type SiteViewsBody,
} from '#shared/interfaces/http/site-views.ts';
import { countedPath, countedQueryOf, countedReferrer, mostCounted } from '#shared/contracts/site-views.ts';

export type CountedBatch = SiteViewsBody['days'];

/** Limit of entries in memory. Above it only the sums of sites are counted until the next batch. */
const mostEntries = 50_000;
/** Limit of searches that may still be completed by a reader who types. */
const mostTyped = 5_000;
/** Time in which a longer or shorter query of a reader replaces the previous one, because a search box asks while its reader types. */
const typedWithinMs = 4_000;
const mostOfOne = 1_000_000;

type Counts = {
  views: number;
  paths: Map<string, number>;
  referred: number;
  referrers: Map<string, number>;
  searches: number;
  emptySearches: number;
  queries: Map<string, [number, number]>;
};

type Typed = { site: string; query: string; isEmpty: boolean; at: number };

/** Page views and searches of the sites of a host since the last batch, in memory. They have no cookies and no addresses. */
export function siteCounts(now: () => number = Date.now) {
  let days = new Map<string, Counts>();
  let entries = 0;
  /** Searches that may not be complete, by a digest of their reader that this process alone can make. They are kept for seconds. */
  const typed = new Map<string, Typed>();
  const salt = randomBytes(32);

  function of(site: string, at: number): Counts {
    const key = `${new Date(at).toISOString().slice(0, 10)} ${site}`;
    let counts = days.get(key);
    if (counts === undefined) {
      counts = {
        ...{ views: 0, paths: new Map(), referred: 0, referrers: new Map() },
        ...{ searches: 0, emptySearches: 0, queries: new Map() },
      };
      days.set(key, counts);
    }
    return counts;
  }

  /** True if a list has the name, or has room for it. */
  function hasRoom(list: ReadonlyMap<string, unknown>, name: string, most: number): boolean {
    if (list.has(name)) return true;
    if (list.size >= most || entries >= mostEntries) return false;
    entries += 1;
    return true;
  }

  function count({ site, query, isEmpty, at }: Typed): void {
    const counts = of(site, at);
    counts.searches += 1;
    if (isEmpty) counts.emptySearches += 1;
    if (!hasRoom(counts.queries, query, mostCounted.queries)) return;
    const [searches, empty] = counts.queries.get(query) ?? [0, 0];
    counts.queries.set(query, [searches + 1, empty + (isEmpty ? 1 : 0)]);
  }

  function settle(before: number): void {
    for (const [reader, search] of typed) {
      if (search.at > before) continue;
      typed.delete(reader);
      count(search);
    }
  }

  return {
    /** Counts a page view. `referrer`: the host name of another site. */
    viewed(site: string, path: string, referrer: string | undefined): void {
      const counts = of(site, now());
      counts.views += 1;
      if (countedPath.safeParse(path).success && hasRoom(counts.paths, path, mostCounted.paths))
        counts.paths.set(path, (counts.paths.get(path) ?? 0) + 1);
      if (referrer === undefined) return;
      counts.referred += 1;
      if (countedReferrer.safeParse(referrer).success && hasRoom(counts.referrers, referrer, mostCounted.referrers))
        counts.referrers.set(referrer, (counts.referrers.get(referrer) ?? 0) + 1);
    },
    /** Counts a search. `reader`: a text that tells the readers of the next seconds apart. */
    searched(site: string, text: string, isEmpty: boolean, reader: string): void {
      const query = countedQueryOf(text);
      if (query === undefined) return;
      const search = { site, query, isEmpty, at: now() };
      const key = createHmac('sha256', salt).update(`${site} ${reader}`).digest('base64');
      const before = typed.get(key);
      typed.delete(key);
      const isTyping = before !== undefined && (query.startsWith(before.query) || before.query.startsWith(query));
      if (before !== undefined && (!isTyping || search.at - before.at > typedWithinMs)) count(before);
      if (typed.size >= mostTyped) count(search);
      else typed.set(key, search);
    },
    /** Removes and returns all counts, in batches of a size that the platform accepts. `isLast`: searches that may not be complete are included. */
    take({ isLast = false } = {}): CountedBatch[] {
      settle(isLast ? Infinity : now() - typedWithinMs);
      const taken = [...days].map(([key, counts]) => dayOf(key, counts));
      days = new Map();
      entries = 0;
      return inBatches(taken);
    },
  };
}

export type SiteCounts = ReturnType<typeof siteCounts>;

function dayOf(key: string, counts: Counts): CountedBatch[number] {
  const most = (count: number): number => Math.min(count, mostOfOne);
  const list = (map: ReadonlyMap<string, number>): [string, number][] =>
    [...map].map(([name, count]) => [name, most(count)]);
  return {
    ...{ day: key.slice(0, 10), site: key.slice(11) },
    ...{ views: most(counts.views), paths: list(counts.paths) },
    ...{ referred: most(counts.referred), referrers: list(counts.referrers) },
    ...{ searches: most(counts.searches), emptySearches: most(counts.emptySearches) },
    queries: [...counts.queries].map(([query, [searches, empty]]) => [query, most(searches), most(empty)]),
  };
}

function inBatches(days: readonly CountedBatch[number][]): CountedBatch[] {
  const batches: CountedBatch[] = [];
  let entries = Infinity;
  for (const day of days) {
    const last = batches.at(-1);
    if (last === undefined || last.length >= mostDaysInBatch || entries + entriesIn(day) > mostEntriesInBatch) {
      batches.push([day]);
      entries = entriesIn(day);
    } else {
      last.push(day);
      entries += entriesIn(day);
    }
  }
  return batches;
}
