import type { OrganizationPlan } from '#shared/contracts/organization-plan.ts';
import { nextOrganization, type Round, roundShare } from './fair-dispatch.ts';

export type WaitingJob = {
  organization: string;
  organizationPlan: OrganizationPlan;
  /** Turn in which it was served last; 0: never. */
  servedAt: number;
  /** All it has left for this group of workers is the closing segment or the bundle. */
  lastStep: boolean;
};

/**
 * Which job gets the next credit: first one that is at its last step, which is one unit of a job whose turn has been; then organizations
 * share by round robin, and the jobs of one take turns, the oldest first. `jobs` are those that have work which a credit is there for,
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
