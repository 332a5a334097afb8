import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '#shared/runtime/telemetry.ts';

/**
 * One holder per role at a time, by a key that ends unless it is renewed. A paused holder may believe for a
 * moment that it still leads: the guard on the log is the real fence, the lease only keeps two from doing the same work.
 */
export type Leases = {
  /** Waits until the role is free and taken; also while the bus is away. Rejects when `signal` aborts. */
  acquire(role: string, holder: string, signal: AbortSignal): Promise<HeldLease>;
};

export type HeldLease = {
  /** Aborts once the role may be another's: it was given back, or not renewed in time. */
  lost: AbortSignal;
  /** Gives the role back at once, so that a spare need not wait for the key to end. Does nothing when the lease is lost. */
  release(): Promise<void>;
};

const retryAfterMs = 1_000;

/**
 * Leads whenever it can get the lease of a role, and waits for it as a spare until then; until `signal` aborts. `lead` works until its own
 * signal aborts, which is when the lease is lost or given up. When it rejects the lease is given back, and tried for again after a second.
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
      logger.warn({ err: error, role }, 'stopped leading; it tries to lead again');
      await delay(retryAfterMs, undefined, { signal }).catch(() => {});
    }
  }
}
