import type { OrganizationPlan } from '#shared/contracts/identifiers.ts';
import { type PriorityQueue, priorityQueue } from './priority-queue.ts';

/** Work of an organization that waits for a turn. */
export type WaitingJob = {
  readonly organization: string;
  /** Written by the queue: the last turn in which it was served; 0: never. */
  servedAt: number;
};

/**
 * A queue that decides whose turn it is, for units of about the same size; a unit that takes much longer is charged as several turns. The cost of a
 * turn is logarithmic in the number of organizations and of the jobs of one, however many jobs wait.
 *
 * - A job at its last step goes first, in order of arrival, unless its organization is in debt, because only one unit of it is left.
 * - Organizations take turns by their shares. With equal shares they take turns unit by unit: with rounds of four, a small export would wait for
 *   four units of a large one at each of its phases.
 * - A new organization is served first, with as many units in a row as its share; several new ones in order of arrival. So small exports that
 *   arrive together end one after the other, each in the processes that it began. If they took turns, all of them would end late.
 * - An organization without work leaves the round, and does not accumulate turns. If it was charged for more than its turn while others waited, it
 *   returns with that debt.
 * - The jobs of one organization take turns, the oldest first.
 */
export type FairQueue<J extends WaitingJob> = {
  readonly size: number;
  /** Adds a job with work for a turn. It may be in the queue already. */
  put(job: J, organizationPlan: OrganizationPlan, options?: { lastStep?: boolean }): void;
  /** Removes a job without more work. Does nothing if it is not in the queue. */
  remove(job: J): void;
  /** The job whose turn it is. It stays in the queue and its turn counts. */
  next(): J | undefined;
  /**
   * Counts further turns (or parts of one) for units of an organization that take longer than others. Without that, an organization whose units take
   * minutes would get nearly all the time of the workers, turn by turn. Has no effect while no organization waits.
   */
  charge(organization: string, organizationPlan: OrganizationPlan, turns: number): void;
};

/** Shares of the pool by plan. */
const shareOf: Record<OrganizationPlan, number> = { free: 1, pro: 2, enterprise: 4 };

type Member<J> = {
  share: number;
  /** Served units divided by its share. The member with the least is next. */
  virtualTime: number;
  /** The turn in which it was served last. Among members with equal virtual time, the one that was served longest ago is next. */
  turn: number;
  /** Units that it may still have in a row, as a newcomer. */
  unitsInARow: number;
  jobs: PriorityQueue<J>;
};

/** Virtual time by which an organization may be ahead of the others without being in debt. Turns alone put it ahead by 1 at most. */
const mostAhead = 1.5;
/** Number of stored debts above which those that are paid are removed. */
const mostDebts = 1_000;

/** Weighted fair queueing in virtual time. */
export function fairQueue<J extends WaitingJob>(): FairQueue<J> {
  const lastSteps = new Set<J>();
  const members = new Map<string, Member<J>>();
  /** New organizations, in order of arrival. */
  const newcomers = new Set<Member<J>>();
  const round = priorityQueue<Member<J>>((a, b) =>
    a.virtualTime === b.virtualTime ? a.turn < b.turn : a.virtualTime < b.virtualTime,
  );
  /** Virtual time of organizations outside of the round that are in debt. */
  const debts = new Map<string, number>();
  /** Order of jobs that were never served. */
  const ages = new Map<J, number>();
  const isBefore = (a: J, b: J): boolean =>
    a.servedAt === b.servedAt ? (ages.get(a) ?? 0) < (ages.get(b) ?? 0) : a.servedAt < b.servedAt;
  /** Virtual time of the organization that was served last. A newcomer begins there if no other is in the round. */
  let lastVirtualTime = 0;
  let turn = 0;
  let age = 0;

  /** Virtual time of the organization in the round that is served next. */
  const roundTime = (): number => round.first()?.virtualTime ?? lastVirtualTime;

  function isInDebt(organization: string): boolean {
    const virtualTime = members.get(organization)?.virtualTime ?? debts.get(organization) ?? 0;
    return virtualTime > roundTime() + mostAhead;
  }

  function keepDebt(organization: string, virtualTime: number): void {
    if (virtualTime <= roundTime() + mostAhead) return;
    debts.set(organization, virtualTime);
    if (debts.size <= mostDebts) return;
    for (const other of debts.keys()) if (!isInDebt(other)) debts.delete(other);
  }

  function memberOf(organization: string, share: number): Member<J> {
    const known = members.get(organization);
    if (known !== undefined) return known;
    const isNewcomer = !isInDebt(organization);
    const virtualTime = isNewcomer ? roundTime() : (debts.get(organization) ?? 0);
    debts.delete(organization);
    const unitsInARow = isNewcomer ? share : 0;
    const member = { share, virtualTime, turn: 0, unitsInARow, jobs: priorityQueue(isBefore) };
    members.set(organization, member);
    if (isNewcomer) newcomers.add(member);
    else round.put(member);
    return member;
  }

  function leaveRound(job: J): void {
    const member = members.get(job.organization);
    member?.jobs.remove(job);
    if (member === undefined || member.jobs.size > 0) return;
    members.delete(job.organization);
    newcomers.delete(member);
    round.remove(member);
    keepDebt(job.organization, member.virtualTime);
  }

  function remove(job: J): void {
    if (!ages.delete(job)) return;
    lastSteps.delete(job);
    leaveRound(job);
  }

  function nextMember(): Member<J> | undefined {
    const [first] = newcomers;
    const member = first ?? round.first();
    if (member === undefined) return undefined;
    if (first !== undefined) member.unitsInARow -= 1;
    lastVirtualTime = member.virtualTime;
    member.virtualTime += 1 / member.share;
    member.turn = turn;
    if (member.unitsInARow > 0) return member;
    newcomers.delete(member);
    round.put(member);
    return member;
  }

  return {
    get size() {
      return ages.size;
    },
    put(job, organizationPlan, { lastStep = false } = {}) {
      if (!ages.has(job)) ages.set(job, (age += 1));
      if (lastStep && !isInDebt(job.organization)) {
        leaveRound(job);
        lastSteps.add(job);
        return;
      }
      lastSteps.delete(job);
      const member = memberOf(job.organization, shareOf[organizationPlan]);
      member.share = shareOf[organizationPlan];
      member.jobs.put(job);
    },
    remove,
    next() {
      turn += 1;
      const [last] = lastSteps;
      const member = last === undefined ? nextMember() : undefined;
      const job = last ?? member?.jobs.first();
      if (job === undefined) return undefined;
      job.servedAt = turn;
      member?.jobs.put(job);
      return job;
    },
    charge(organization, organizationPlan, turns) {
      if (members.size === 0) return;
      const member = members.get(organization);
      const cost = turns / shareOf[organizationPlan];
      if (member === undefined) {
        debts.set(organization, Math.max(debts.get(organization) ?? 0, roundTime()) + cost);
        return;
      }
      member.virtualTime += cost;
      member.unitsInARow = 0;
      newcomers.delete(member);
      round.put(member);
    },
  };
}
