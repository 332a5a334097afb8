import { LRUCache } from 'lru-cache';

/** Time lost on pages that hang, by organization. It bounds how long one organization can occupy the children that all of them share. */
export type Patience = {
  /** Records that a child was killed at this deadline. */
  lost: (organization: string, deadlineMs: number) => void;
  /** True if the organization has lost so much time recently that its pages get short deadlines, and no second attempt. */
  isSpent: (organization: string) => boolean;
};

/** Lost time from which on deadlines are short: a few pages that hang, each tried twice with a deadline of 20 s. */
const spentFromMs = 100_000;
/** Maximum of counted lost time, so that an organization gets full deadlines again soon after its last page that hung. */
const mostLostMs = 120_000;
/** Share of real time by which lost time decreases: one more full deadline is allowed every ten minutes. */
const forgivenShare = 1 / 30;
const mostOrganizations = 10_000;

export function patience(now: () => number = () => performance.now()): Patience {
  const known = new LRUCache<string, { lostMs: number; at: number }>({ max: mostOrganizations });
  const lostBy = (organization: string): number => {
    const { lostMs = 0, at = 0 } = known.get(organization) ?? {};
    return Math.max(0, lostMs - (now() - at) * forgivenShare);
  };
  return {
    lost(organization, deadlineMs) {
      known.set(organization, { lostMs: Math.min(mostLostMs, lostBy(organization) + deadlineMs), at: now() });
    },
    isSpent: (organization) => lostBy(organization) >= spentFromMs,
  };
}
