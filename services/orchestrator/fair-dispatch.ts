import type { OrganizationPlan } from '#shared/contracts/organization-plan.ts';

/** How many chunks an organization gets in one round. */
export const roundShare: Record<OrganizationPlan, number> = { free: 1, pro: 2, enterprise: 4 };

/** Whose turn it is: organizations in the order of the round, and what each may still take in this one. The first is being served. */
export type Round = readonly { organization: string; left: number }[];

/**
 * Deficit round robin, for work of much the same size: the next organization that gets a credit, out of those that have something to hand
 * out (with their shares), and the round after it. An organization that has nothing to hand out leaves the round and saves nothing up; a new
 * one comes in at its end. Pure.
 */
export function nextOrganization(
  round: Round,
  waiting: ReadonlyMap<string, number>,
): { organization: string; round: Round } | undefined {
  const known = new Set(round.map(({ organization }) => organization));
  const staying = round.filter(({ organization }) => waiting.has(organization));
  const coming = [...waiting]
    .filter(([organization]) => !known.has(organization))
    .map(([organization, share]) => ({ organization, left: share }));
  const [first, ...others] = [...staying, ...coming];
  if (first === undefined) return undefined;
  const served = { ...first, left: first.left - 1 };
  if (served.left > 0) return { organization: first.organization, round: [served, ...others] };
  const again = { ...first, left: waiting.get(first.organization) ?? 1 };
  return { organization: first.organization, round: [...others, again] };
}

/** Credits for one group of workers: enough that none waits for its next task, few enough that nothing waits in the queue for long. */
export function windowSize(liveSlots: number): number {
  return Math.max(2, Math.ceil(1.75 * liveSlots));
}
