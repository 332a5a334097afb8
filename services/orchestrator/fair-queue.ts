import type { OrganizationPlan } from '#shared/contracts/identifiers.ts';
import { type PriorityQueue, priorityQueue } from './priority-queue.ts';

/** Work of an organization that waits for a turn. */
export type WaitingJob = {
  readonly organization: string;
  /** Written by the queue: the last turn in which it was served; 0: never. */
  servedAt: number;
};

/**
 * A queue that decides whose turn it is, for units of about the same size. The cost of a turn is logarithmic in the number of organizations and of
 * the jobs of one, however many jobs wait.
 *
 * - A job at its last step goes first, in order of arrival: it is one unit of a job that had its turns.
 * - Organizations take turns by their shares. With equal shares they take turns unit by unit: with rounds of four, a small export would wait for
 *   four units of a large one at each of its phases.
 * - A new organization is served first, with as many units in a row as its share; several new ones in order of arrival. So small exports that
 *   arrive together end one after the other, each in the processes that it began; in turns all of them would end last.
 * - An organization without work leaves the round, and does not accumulate turns.
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
};

/** Shares of the pool by plan. */
const shareOf: Record<OrganizationPlan, number> = { free: 1, pro: 2, enterprise: 4 };

type Member<J> = {
  share: number;
  /** Served units divided by its share. The member with the least is next. */
  virtualTime: number;
  /** Its last turn. Among members with equal virtual time, the one that was served longest ago is next. */
  turn: number;
  /** Units that it may still have in a row, as a newcomer. */
  unitsInARow: number;
  jobs: PriorityQueue<J>;
};

/** Weighted fair queueing in virtual time. */
export function fairQueue<J extends WaitingJob>(): FairQueue<J> {
  const lastSteps = new Set<J>();
  const members = new Map<string, Member<J>>();
  /** New organizations, in order of arrival. */
  const newcomers = new Set<Member<J>>();
  const round = priorityQueue<Member<J>>((a, b) =>
    a.virtualTime === b.virtualTime ? a.turn < b.turn : a.virtualTime < b.virtualTime,
  );
  /** Order of jobs that were never served. */
  const ages = new Map<J, number>();
  const isBefore = (a: J, b: J): boolean =>
    a.servedAt === b.servedAt ? (ages.get(a) ?? 0) < (ages.get(b) ?? 0) : a.servedAt < b.servedAt;
  /** Virtual time of the organization that was served last. A newcomer begins there if no other is in the round. */
  let lastVirtualTime = 0;
  let turn = 0;
  let age = 0;

  function memberOf(organization: string, share: number): Member<J> {
    const known = members.get(organization);
    if (known !== undefined) return known;
    const virtualTime = round.first()?.virtualTime ?? lastVirtualTime;
    const member = { share, virtualTime, turn: 0, unitsInARow: share, jobs: priorityQueue(isBefore) };
    members.set(organization, member);
    newcomers.add(member);
    return member;
  }

  function leaveRound(job: J): void {
    const member = members.get(job.organization);
    member?.jobs.remove(job);
    if (member === undefined || member.jobs.size > 0) return;
    members.delete(job.organization);
    newcomers.delete(member);
    round.remove(member);
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
      if (lastStep) {
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
  };
}
