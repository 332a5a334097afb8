import type { Insights } from '#shared/interfaces/http/insights.ts';
import { sumsByName, sumOf, type ViewedDay } from '../sites/sum-views.ts';

type AgentInsights = NonNullable<Insights['agents']>;

/** Sums of calls of agents of some days, which are added one by one, oldest first. */
export function agentSums() {
  const tools = sumsByName();
  const queries = sumsByName();
  const remarks: AgentInsights['remarks'] = [];
  let [calls, searches, empty] = [0, 0, 0];
  return {
    add({
      day,
      document: { agents },
    }: Pick<ViewedDay, 'day'> & { document: Pick<ViewedDay['document'], 'agents'> }): void {
      if (agents === undefined) return;
      calls = sumOf(calls, agents.calls);
      searches = sumOf(searches, agents.searches);
      empty = sumOf(empty, agents.emptySearches);
      for (const [tool, count] of agents.tools) tools.add(tool, count);
      for (const [query, count, found] of agents.queries) queries.add(query, count, found);
      for (const remark of agents.remarks) remarks.push({ day, ...remark });
    },
    /** The sums, with at most `limit` entries in each list. */
    result: (limit: number): AgentInsights => ({
      ...{ calls, searches, empty },
      tools: tools
        .sorted()
        .slice(0, limit)
        .map(([tool, [count]]) => ({ tool, calls: count })),
      queries: queries
        .sorted()
        .slice(0, limit)
        .map(([query, [count, nothing]]) => ({ query, searches: count, empty: nothing })),
      remarks: remarks.toReversed().slice(0, limit),
    }),
  };
}
