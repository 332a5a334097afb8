import type { OrganizationPlan } from '#shared/contracts/organization-plan.ts';
import { nextOrganization, type Round, roundShare } from './fair-dispatch.ts';

export type WaitingJob = {
  organization: string;
  organizationPlan: OrganizationPlan;
  /** Turn in which it was served last; 0: never. */
  servedAt: number;
};

/**
 * Which job gets the next credit: organizations share by deficit round robin, the jobs of one take turns, the oldest first. `jobs` are
 * those that have work which a credit is there for, oldest first. Pure.
 */
export function pickWork<J extends WaitingJob>(jobs: readonly J[], round: Round): { job: J; round: Round } | undefined {
  const shares = new Map(
    jobs.map(({ organization, organizationPlan }) => [organization, roundShare[organizationPlan]]),
  );
  const next = nextOrganization(round, shares);
  if (next === undefined) return undefined;
  const own = jobs.filter(({ organization }) => organization === next.organization);
  const job = own.reduce((best, candidate) => (candidate.servedAt < best.servedAt ? candidate : best));
  return { job, round: next.round };
}
