import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '#shared/runtime/telemetry.ts';

/**
 * Leases of roles. Each role has one holder at a time, which keeps its key from expiring by renewing it. A holder that was paused may briefly believe
 * that it still leads, so the guarded append is the fencing; the lease only prevents duplicate work.
 */
export type Leases = {
  /** Waits until the role is free and takes it, also while the bus is unavailable. Rejects when `signal` aborts. */
  acquire(role: string, holder: string, signal: AbortSignal): Promise<HeldLease>;
};

export type HeldLease = {
  /** Aborts once another process may have the role, because the lease was released or not renewed in time. */
  lost: AbortSignal;
  /** Releases the role at once, so that a spare need not wait for the key to expire. Does nothing when the lease is lost. */
  release(): Promise<void>;
};

const retryAfterMs = 1_000;

/**
 * Waits as a spare for the lease of a role, then leads, and repeats this until `signal` aborts. `lead` works until its own signal aborts,
 * which happens when the lease is lost. If `lead` rejects, the lease is released and requested again after a second.
 */
export async function leadByTurns(
  { leases, role, holder, logger }: { leases: Leases; role: string; holder: string; logger: Logger },
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const lease = await leases.acquire(role, holder, signal);
      logger.info({ role }, 'leads');
      try {
        await lead(AbortSignal.any([signal, lease.lost]));
      } finally {
        await lease.release();
      }
    } catch (error) {
      if (signal.aborted) return;
      logger.warn({ err: error, role }, 'stopped leading; trying to lead again');
      await delay(retryAfterMs, undefined, { signal }).catch(() => {});
    }
  }
}
