import type { Clock } from '#shared/clock/clock.ts';
import type { ObjectHead } from './object-store.ts';

const reusableMs = 12 * 3_600_000;

/**
 * May an object that is there already be relied on as it is? One that is older than 12 hours has to be stored again: the log does not say
 * yet that it is needed, and housekeeping, which keeps what is younger than 2 days, may be about to remove it.
 */
export function isReusable(head: Pick<ObjectHead, 'modifiedAt'> | undefined, clock: Clock): boolean {
  return head !== undefined && clock.now().getTime() - head.modifiedAt.getTime() < reusableMs;
}
