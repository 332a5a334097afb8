import type { OrganizationPlan } from '#shared/contracts/identifiers.ts';

export type WaitingJob = {
  organization: string;
  organizationPlan: OrganizationPlan;
  /** The last turn in which it was served; 0: never. */
  servedAt: number;
  /** Only the closing segment or the bundle is left to do. */
  lastStep: boolean;
};

/**
 * Which job gets the next credit: first a job at its last step, which is one unit of a job that had its turn; then organizations
 * share by round robin, and the jobs of one organization take turns, the oldest first. `jobs` have work that a credit is free for, the
 * oldest first. Pure.
 */
export function pickWork<J extends WaitingJob>(jobs: readonly J[], round: Round): { job: J; round: Round } | undefined {
  const last = jobs.find(({ lastStep }) => lastStep);
  if (last !== undefined) return { job: last, round };
  const shares = new Map(
    jobs.map(({ organization, organizationPlan }) => [organization, roundShare[organizationPlan]]),
  );
  const next = nextOrganization(round, shares);
  if (next === undefined) return undefined;
  const own = jobs.filter(({ organization }) => organization === next.organization);
  const job = own.reduce((best, candidate) => (candidate.servedAt < best.servedAt ? candidate : best));
  return { job, round: next.round };
}

/** How the plans of organizations share the pool. */
const roundShare: Record<OrganizationPlan, number> = { free: 1, pro: 2, enterprise: 4 };

/** What each organization is due. `opening`: units that a new organization may still have in a row. */
export type Round = readonly { organization: string; due: number; opening: number }[];

/**
 * Smooth weighted round robin, for units of much the same size: the next organization that gets a credit, of those that have work
 * to hand out (with their shares), and the round after it. At each turn all gain their share, and the one with the most is served and pays
 * for all. So equals take turns chunk by chunk. With rounds of four chunks, a small export would wait for four chunks of a large one at each
 * of its phases. A new organization is served first, with as many units in a row as its share; of several the first one first. So small exports
 * that arrive together end one after the other, each in the processes that it began; in turns all of them would end last. An organization
 * without work leaves the round and saves nothing up. Pure.
 */
export function nextOrganization(
  round: Round,
  waiting: ReadonlyMap<string, number>,
): { organization: string; round: Round } | undefined {
  const known = new Set(round.map(({ organization }) => organization));
  const staying = round.filter(({ organization }) => waiting.has(organization));
  const coming = [...waiting]
    .filter(([organization]) => !known.has(organization))
    .map(([organization, share]) => ({ organization, due: 0, opening: share }));
  const gained = [...staying, ...coming].map((entry) => ({
    ...entry,
    due: entry.due + (waiting.get(entry.organization) ?? 1),
  }));
  const opening = gained.find((entry) => entry.opening > 0);
  const [first, ...rest] = gained;
  if (first === undefined) return undefined;
  const served = opening ?? rest.reduce((best, candidate) => (candidate.due > best.due ? candidate : best), first);
  const total = [...waiting.values()].reduce((sum, share) => sum + share, 0);
  const paid = { ...served, due: served.due - total, opening: Math.max(0, served.opening - 1) };
  const after =
    opening === undefined
      ? [...gained.filter((entry) => entry !== served), paid]
      : gained.map((entry) => (entry === served ? paid : entry));
  return { organization: served.organization, round: after };
}

/** Credits for one group of workers: enough that no worker waits for a task, and few enough that no task waits in the queue for long. */
export function windowSize(liveSlots: number): number {
  return Math.max(2, Math.floor(1.75 * liveSlots));
}
