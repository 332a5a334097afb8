import type { OrganizationPlan } from '#shared/contracts/organization-plan.ts';

/** How the plans of organizations share the pool. */
export const roundShare: Record<OrganizationPlan, number> = { free: 1, pro: 2, enterprise: 4 };

/** What organizations have coming to them, whoever waits longest since it was served first. */
export type Round = readonly { organization: string; due: number }[];

/**
 * Smooth weighted round robin, for work of much the same size: the next organization that gets a credit, out of those that have something
 * to hand out (with their shares), and the round after it. At each turn all gain their share, the one with the most is served and pays for
 * all: equals take turns chunk by chunk, where a round of four chunks each would have a small export wait for four of a large one at each of
 * its phases. An organization that has nothing to hand out leaves the round and saves nothing up; a new one goes before its equals. Pure.
 */
export function nextOrganization(
  round: Round,
  waiting: ReadonlyMap<string, number>,
): { organization: string; round: Round } | undefined {
  const known = new Set(round.map(({ organization }) => organization));
  const coming = [...waiting.keys()]
    .filter((organization) => !known.has(organization))
    .map((organization) => ({ organization, due: 0 }));
  const staying = round.filter(({ organization }) => waiting.has(organization));
  const gained = [...coming, ...staying].map(({ organization, due }) => ({
    organization,
    due: due + (waiting.get(organization) ?? 1),
  }));
  const [first, ...rest] = gained;
  if (first === undefined) return undefined;
  const served = rest.reduce((best, candidate) => (candidate.due > best.due ? candidate : best), first);
  const total = [...waiting.values()].reduce((sum, share) => sum + share, 0);
  const others = gained.filter((entry) => entry !== served);
  return { organization: served.organization, round: [...others, { ...served, due: served.due - total }] };
}

/** Credits for one group of workers: enough that none waits for its next task, few enough that nothing waits in the queue for long. */
export function windowSize(liveSlots: number): number {
  return Math.max(2, Math.floor(1.75 * liveSlots));
}
