import { type AgentRemark, type CountedAgents, countedQueryOf, mostCounted } from '#shared/contracts/site-views.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type Clock, randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { type Day, recordDays } from '../sites/record-days.ts';

/** Counts of the calls of agents, with the words of their searches. */
export type AgentCounts = {
  /** Counts a call in memory. `search`: the words that it looked for. Does not wait and cannot fail. */
  note(domain: CountedDomain, call: { tool: string; search?: { query: string; isEmpty: boolean } | undefined }): void;
  /** Keeps a remark until the next flush. */
  remark(domain: CountedDomain, remark: AgentRemark): void;
  /** Records the counts. Never rejects; what could not be recorded is kept for the next flush. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

type CountedDomain = { organization: string; domain: string };

const flushEveryMs = 60_000;
/** Limits of what waits in memory. Above them only sums are counted, and while the bus is away new batches are left out. */
const mostNames = 20_000;
const mostWaiting = 20;

type Counts = {
  calls: number;
  tools: Map<string, number>;
  searches: number;
  emptySearches: number;
  queries: Map<string, [number, number]>;
  remarks: AgentRemark[];
};
type Batch = { organization: string; sequence: number; time: string; days: Day[] };

/** Counts calls in memory and records them once a minute, in the same records as the page views of sites. */
export function agentCounts(bus: Pick<BusOf<'gateway'>, 'views'>, clock: Clock, logger: Logger): AgentCounts {
  const source = randomBase62(16);
  let sequence = 0;
  /** By day, organization and domain. */
  let counted = new Map<string, Counts>();
  let names = 0;
  let waiting: Batch[] = [];
  let flushing: Promise<void> | undefined;

  function of({ organization, domain }: CountedDomain): Counts {
    const key = `${clock.now().toISOString().slice(0, 10)} ${organization} ${domain}`;
    let counts = counted.get(key);
    if (counts === undefined) {
      counts = { calls: 0, tools: new Map(), searches: 0, emptySearches: 0, queries: new Map(), remarks: [] };
      counted.set(key, counts);
    }
    return counts;
  }

  function hasRoom(list: ReadonlyMap<string, unknown>, name: string, most: number): boolean {
    if (list.has(name)) return true;
    if (list.size >= most || names >= mostNames) return false;
    names += 1;
    return true;
  }

  /** Moves the counts into batches, one for each organization. */
  function take(): void {
    const byOrganization = new Map<string, Day[]>();
    for (const [key, counts] of counted) {
      const [day = '', organization = '', domain = ''] = key.split(' ');
      byOrganization.set(organization, [...(byOrganization.get(organization) ?? []), dayOf(day, domain, counts)]);
    }
    counted = new Map();
    names = 0;
    for (const [organization, days] of byOrganization) {
      if (waiting.length >= mostWaiting) return;
      sequence += 1;
      waiting.push({ organization, sequence, time: clock.now().toISOString(), days });
    }
  }

  async function record(): Promise<void> {
    take();
    const left: Batch[] = [];
    for (const { days, ...batch } of waiting) {
      try {
        await recordDays(bus, { ...batch, source }, days);
      } catch (error) {
        logger.warn({ problem: messageOf(error) }, 'calls of agents could not be counted now; they are counted later');
        left.push({ days, ...batch });
      }
    }
    waiting = left;
  }

  const flush = (): Promise<void> => {
    flushing ??= record().finally(() => {
      flushing = undefined;
    });
    return flushing;
  };
  const timer = setInterval(() => void flush(), flushEveryMs).unref();

  return {
    note(domain, { tool, search }) {
      const counts = of(domain);
      counts.calls += 1;
      if (hasRoom(counts.tools, tool, mostCounted.tools)) counts.tools.set(tool, (counts.tools.get(tool) ?? 0) + 1);
      if (search === undefined) return;
      counts.searches += 1;
      if (search.isEmpty) counts.emptySearches += 1;
      const query = countedQueryOf(search.query);
      if (query === undefined || !hasRoom(counts.queries, query, mostCounted.queries)) return;
      const [searches, empty] = counts.queries.get(query) ?? [0, 0];
      counts.queries.set(query, [searches + 1, empty + Number(search.isEmpty)]);
    },
    remark(domain, remark) {
      const { remarks } = of(domain);
      remarks.push(remark);
      if (remarks.length > mostCounted.remarks) remarks.shift();
    },
    flush,
    async close() {
      clearInterval(timer);
      await flushing;
      await flush();
    },
  };
}

function dayOf(day: string, domain: string, { tools, queries, ...counts }: Counts): Day {
  const agents: CountedAgents = {
    ...counts,
    tools: [...tools],
    queries: [...queries].map(([query, [searches, empty]]) => [query, searches, empty]),
  };
  return {
    ...{ day, domain, views: 0, paths: [], referred: 0, referrers: [] },
    ...{ searches: 0, emptySearches: 0, queries: [], agents },
  };
}
